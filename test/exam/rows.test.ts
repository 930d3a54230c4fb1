import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { allTvChecks } from '../../src/exam/checks/all-checks.ts';
import { ExamView } from '../../src/exam/checks/exam-view.ts';
import { timingOf } from '../../src/exam/parts/options.ts';
import { makeReport } from '../../src/exam/report.ts';

const page = new URL('../../docs/conformance.md', import.meta.url);
const header =
  '| Id | Level | Section | The TV must or should | Expected | If it fails |\n' +
  '| --- | --- | --- | --- | --- | --- |\n';

it('lists each check in docs/conformance.md', async () => {
  const text = readFileSync(page, 'utf8');
  expect(text).toContain(header);
  const start = text.indexOf(header) + header.length;
  const end = text.indexOf('\n### Add a row');
  const rows = allTvChecks.map(
    ({ id, level, section, title, expected, advice }) =>
      `| \`${id}\` | ${level} | §${section} | ${title} | ${expected} | ${advice} |\n`,
  );
  const expected = text.slice(0, start) + rows.join('') + text.slice(end);
  await expect(expected).toMatchFileSnapshot(page.pathname);
});

it('has unique ids, and sections that docs/protocol.md has', () => {
  const protocol = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');
  const ids = allTvChecks.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { section } of allTvChecks) expect(protocol).toContain(`\n### ${section} `);
  for (const { advice, expected } of allTvChecks) {
    expect(advice).toMatch(/^[A-Z`].*\.$/);
    expect(expected).not.toMatch(/\.$/);
  }
});

it('passes no check of a TV that did nothing', () => {
  const exam = {
    ...{ exchanges: [], marks: [], isQuick: true, strangers: 0, isInterrupted: false },
    timing: timingOf({ onCode: () => {} }),
  };
  const report = makeReport(exam, ['register', 'events', 'network', 'power', 'revoke']);
  expect(report.checks.filter(({ result }) => result === 'pass')).toEqual([]);
  expect(report.isPassed).toBe(false);
  expect(new ExamView(exam).playback.share(0, 1)).toBeUndefined();
});
