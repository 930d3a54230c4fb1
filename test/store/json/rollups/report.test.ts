import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DocumentFile,
  writeDocument,
} from '../../../../src/store/json/checkpoint/document-file.ts';
import type { WrittenDocument } from '../../../../src/store/json/checkpoint/document-owner.ts';
import { ReportTotals, sectionRuns } from '../../../../src/store/json/rollups/report.ts';
import { guid } from '../../sample-batch.ts';
import { CrashDisk } from '../crash-disk.ts';
import { documentOf } from '../part-rig.ts';

interface Line {
  section: string;
  day: string;
  key: string;
  impressions: number;
  seconds: number;
}

const scopes = [1, 2, 3].map((n) => guid('tena', n));
const sections = scopes
  .flatMap((scope) => ['4-venue', '5-screen'].map((group) => `["${group}","${scope}",`))
  .sort();
const days = ['2026-11-20', '2026-11-21'];
const textOf = ({ section, day, key, impressions, seconds }: Line) =>
  `${section}"${day}","${key}",${impressions},${JSON.stringify(seconds)}]`;

/** A document of these lines on disk, in order. */
async function writtenOf(lines: readonly Line[]): Promise<WrittenDocument> {
  const disk = new CrashDisk();
  const entry = await writeDocument(disk, '/data', 'one.json', {
    seq: 1,
    lines: lines.map(textOf).sort(),
  });
  const file = new DocumentFile(disk, '/data', entry);
  return documentOf('', { chunks: (comesBefore) => file.chunks(comesBefore) });
}

async function totalsOf(
  documents: readonly WrittenDocument[],
  wanted: readonly string[],
  totals = new ReportTotals(),
) {
  for (const document of documents) {
    for await (const run of sectionRuns(document, wanted))
      if (run.day === days[0]) totals.addRun(run);
  }
  return totals.rows();
}

/** The expected totals, computed directly. */
function expected(lines: readonly Line[], wanted: readonly string[]) {
  const rows = new Map<string, { key: string; impressions: number; seconds: number }>();
  for (const { section, day, key, impressions, seconds } of lines) {
    if (day !== days[0] || !wanted.includes(section)) continue;
    const row = rows.get(key) ?? { key, impressions: 0, seconds: 0 };
    rows.set(key, {
      key,
      impressions: row.impressions + impressions,
      seconds: Math.min(row.seconds + seconds, Number.MAX_VALUE),
    });
  }
  return [...rows.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
}

describe('the totals of a report', () => {
  it('equal those of the lines in random documents', async () => {
    // The total is the same in any order.
    const seconds = fc.nat(100_000).map((quarters) => quarters / 4);
    const key = fc.oneof(
      fc.nat(40).map((n) => guid('scre', n)),
      fc.constantFrom('', 'a'),
    );
    const line = fc.record({
      section: fc.constantFrom(...sections),
      day: fc.constantFrom(...days),
      key,
      impressions: fc.nat(),
      seconds,
    });
    const unlike = { selector: textOf, maxLength: 120, size: 'max' } as const;
    const documents = fc.array(
      fc.uniqueArray(line, { ...unlike, selector: ({ section, day, key }) => section + day + key }),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    await fc.assert(
      fc.asyncProperty(documents, fc.subarray(sections, { minLength: 1 }), async (all, wanted) => {
        const group = wanted.filter((section) => section.slice(0, 9) === wanted[0]?.slice(0, 9));
        const rows = await totalsOf(await Promise.all(all.map(writtenOf)), group);
        expect(rows).toEqual(expected(all.flat(), group));
      }),
      { numRuns: 100 },
    );
  });

  it('parse all JSON numbers', async () => {
    const [section = ''] = sections;
    for (const seconds of [
      0,
      12.5,
      1e21,
      1e-7,
      Number.MAX_VALUE,
      123456789012345680,
      999999999999999,
    ]) {
      const line = { section, day: days[0] as string, key: 'a', impressions: 3, seconds };
      const document = await writtenOf([line, { ...line, key: 'b' }]);
      expect(await totalsOf([document], [section])).toEqual(
        ['a', 'b'].map((key) => ({ key, impressions: 3, seconds })),
      );
    }
  });

  it('include the requested sections anywhere in a long document', async () => {
    const lines = sections.flatMap((section, at) =>
      Array.from({ length: 3_000 }, (_, n) => ({
        section,
        day: days[0] as string,
        key: guid('scre', n),
        impressions: n + at,
        seconds: at,
      })),
    );
    const document = await writtenOf(lines);
    for (const section of sections)
      expect(await totalsOf([document], [section])).toEqual(expected(lines, [section]));
    expect(await totalsOf([document], ['["9-none","x",'])).toEqual([]);
    const totals = new ReportTotals();
    totals.add(guid('scre', 7), { impressions: 1, seconds: 0 });
    totals.add(guid('scre', 3), { impressions: 1, seconds: 0 });
    const [, , , third] = await totalsOf([document], [sections[0] as string], totals);
    expect(third).toEqual({ key: guid('scre', 3), impressions: 4, seconds: 0 });
  });

  it('are not computed from damaged lines', async () => {
    const [section = ''] = sections;
    const good = `${section}"${days[0]}","${guid('scre', 1)}",1,2]`;
    expect(await totalsOf([documentOf(`${good}\n`)], [section])).toHaveLength(1);
    for (const bad of [
      good.replace(',1,2]', ',1x,2]'),
      good.replace(',1,2]', ',,2]'),
      good.replace(',1,2]', ',1,2'),
    ])
      await expect(totalsOf([documentOf(`${bad}\n`)], [section])).rejects.toThrow(SyntaxError);
  });
});
