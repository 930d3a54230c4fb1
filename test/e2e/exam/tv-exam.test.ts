// Examines one correct TV, the program of docs/tv.md and TVs with a seeded defect, in the parts
// that concern them. `npm run faults` runs the whole exam for all styles and defects.
import { describe, expect, it } from 'vitest';
import type { PartId } from '../../../src/entry/conformance.ts';
import { allTvChecks } from '../../../src/exam/checks/all-checks.ts';
import { examineDefect, examinePageTv, failedIds } from '../../exam/tv/examine.ts';
import { seededDefects } from '../../exam/tv/seeded-defects.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';

/** Six exams run at the same time, so each second of a busy machine counts. */
const pace = 12;

const quickDefects: [name: keyof typeof seededDefects, part: PartId][] = [
  ['sends each retry under a new key', 'events'],
  ['drops the good events of a batch with a bad one', 'events'],
  ['goes dark after a 500', 'playlist'],
  ['forgets its key after a mismatch', 'config'],
];

describe('the seeded defects', () => {
  it('fail each check at least once', () => {
    const failed = new Set(Object.values(seededDefects).flatMap(({ fails }) => fails));
    // A TV that never uses its key fails many checks: test/exam/run-exam.test.ts has one.
    failed.add('tv.register.uses-key');
    expect([...failed].toSorted()).toEqual(allTvChecks.map(({ id }) => id).toSorted());
  });
});

describe.concurrent('the exam of a TV', { timeout: 120_000 }, () => {
  it('passes if the TV is correct', async () => {
    const report = await examineDefect(
      { fails: [] },
      { parts: ['events', 'playlist', 'config'], pace },
    );
    expect(failedIds(report)).toEqual([]);
    expect(report.checks.filter(({ result }) => result === 'pass').length).toBeGreaterThan(25);
  });

  it('passes if the TV is the program of docs/tv.md', async () => {
    const report = await examinePageTv(await temporaryFolder(), { parts: ['events'], pace });
    expect(failedIds(report)).toEqual([]);
  });

  it.each(quickDefects)('fails exactly the expected checks if it %s', async (name, part) => {
    const defect = seededDefects[name] ?? { fails: ['no such defect'] };
    const report = await examineDefect(defect, { parts: [part], pace });
    expect(failedIds(report).toSorted()).toEqual(defect.fails.toSorted());
  });
});
