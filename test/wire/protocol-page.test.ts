// Compares docs/protocol.md with the code: codes, paths and sections.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { conditions } from '../../src/domain/conditions/condition.ts';
import { errorKinds } from '../../src/wire/errors.ts';
import { type Operation, operations } from '../../src/wire/operations/operations.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/protocol.md', root), 'utf8');

/** The text from one heading to the next of its level. */
function section(heading: string): string {
  const level = heading.slice(0, heading.indexOf(' '));
  const from = page.indexOf(`\n${heading}\n`);
  if (from < 0) throw new Error(`docs/protocol.md has no heading "${heading}"`);
  const to = page.indexOf(`\n${level} `, from + 1);
  return page.slice(from, to < 0 ? undefined : to);
}

const codes = Object.keys(errorKinds);
const all = Object.values<Operation>(operations);
const rows = page.split('\n').filter((line) => line.startsWith('| '));
const cells = (row: string) =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
const inTicks = (text: string) => [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);

describe('docs/protocol.md', () => {
  it('has every error code in the table of §1.4, with its status, and no other', () => {
    const table = section('### 1.4 Errors')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map(cells);
    expect(table.map(([code, status]) => `${code} ${status}`).sort()).toEqual(
      codes
        .map((code) => `\`${code}\` ${errorKinds[code as keyof typeof errorKinds].status}`)
        .sort(),
    );
  });

  it('names only codes that exist', () => {
    const eventTypes = ['playback_error', 'app_started', 'app_stopped', 'player_report'];
    const playbackFailures = ['not_media', 'too_large', 'mixed_content'];
    const layerFailures = ['takeover_failed', 'entry_failed'];
    const known = [...codes, ...eventTypes, ...playbackFailures, ...layerFailures, ...conditions];
    const words = inTicks(page).filter((word) => /^[a-z]+(_[a-z]+)+$/.test(word));
    expect(words.filter((word) => !known.includes(word))).toEqual([]);
  });

  it('gives each code its status', () => {
    const wrong = [...page.matchAll(/\b([45]\d\d)\s+`([a-z_]+)`/g)].filter(([, status, code]) => {
      return (
        codes.includes(code!) &&
        errorKinds[code as keyof typeof errorKinds].status !== Number(status)
      );
    });
    expect(wrong.map(([text]) => text)).toEqual([]);
  });

  it.each(all.filter(({ path }) => path.startsWith('/v1/')))(
    'has a row for $method $path in §5.3 that matches the table of operations',
    (operation) => {
      const row = section('### 5.3 The endpoints')
        .split('\n')
        .find((line) => line.startsWith(`| \`${operation.method} ${operation.path}\` |`));
      const [, role, takes = '', answers = '', errors = ''] = cells(row ?? '');
      const own = [
        ...(operation.record ? [`${operation.record}_not_found`] : []),
        ...(operation.errors ?? []),
      ];
      expect(role).toBe(`\`${operation.access}\``);
      expect(answers.slice(0, 3)).toBe(String(operation.status));
      expect(takes !== '').toBe(
        Boolean(operation.body) ||
          (operation.query !== undefined && operation.answer !== 'playlistVersions'),
      );
      expect(inTicks(errors)).toEqual(own);
    },
  );

  it('mentions all endpoints, and only those that exist', () => {
    const outside = [
      'GET /healthz',
      'GET /readyz',
      'GET /metrics',
      'GET /openapi.json',
      'GET /docs',
      'GET /player',
      'GET /',
    ];
    const known = [...all.map(({ method, path }) => `${method} ${path}`), ...outside];
    const endpoints = inTicks(page).filter((text) => /^(GET|POST|PUT|PATCH|DELETE) \//.test(text));
    expect([...new Set(endpoints)].sort()).toEqual([...new Set(known)].sort());
  });

  it('has every section that the code cites', () => {
    const files = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts'),
    );
    const cited = files.flatMap((file) => [
      ...readFileSync(new URL(`src/${file}`, root), 'utf8').matchAll(/protocol\.md,? §([\d.]*\d)/g),
    ]);
    const missing = cited
      .map((match) => match[1]!)
      .filter((number) => !new RegExp(`^##+ ${number.replaceAll('.', '\\.')} `, 'm').test(page));
    expect(cited.length).toBeGreaterThan(0);
    expect(missing).toEqual([]);
  });

  it('refers only to existing sections', () => {
    const missing = [...page.matchAll(/§([\d.]*\d)/g)]
      .map((match) => match[1]!)
      .filter((number) => !page.includes(`# ${number} `));
    // RFCs have sections too, but the page cites them whole.
    expect(missing).toEqual([]);
  });

  it('has tables whose rows have as many cells as their headings', () => {
    const ragged = rows.filter(
      (row, at) =>
        at > 0 &&
        page.includes(`${rows[at - 1]}\n${row}\n`) &&
        cells(row).length !== cells(rows[at - 1]!).length,
    );
    expect(ragged).toEqual([]);
  });
});
