// Proves that the exam for TVs fails no correct TV, and that each seeded defect fails exactly the
// expected checks.
import { describe, it } from 'vitest';
import { examineDefect, examinePageTv, examineStyle, failedIds } from '../../exam/tv/examine.ts';
import { seededDefects } from '../../exam/tv/seeded-defects.ts';
import { styles } from '../../exam/tv/styles.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';

describe.concurrent('a TV without defects', () => {
  it.for(Object.entries(styles))('that %s fails no check', async ([, style], { expect }) => {
    expect(failedIds(await examineStyle(style))).toEqual([]);
  });

  it('that is the program of docs/tv.md fails no check', async ({ expect }) => {
    // The program takes up to a real second to start.
    const report = await examinePageTv(await temporaryFolder(), { pace: 8 });
    expect(failedIds(report)).toEqual([]);
  });
});

describe.concurrent('a TV that', () => {
  it.for(Object.entries(seededDefects))(
    '%s: fails exactly the expected checks',
    async ([, defect], { expect }) => {
      const report = await examineDefect(defect);
      for (const { id, result, seen } of report.checks)
        if (result === 'fail' && !defect.fails.includes(id)) console.log(`${id}: ${seen}`);
      expect(failedIds(report).toSorted()).toEqual(defect.fails.toSorted());
    },
  );
});
