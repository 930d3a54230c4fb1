// How many generated defects of TVs the exam finds. A defect is found if a row fails. Prints the
// defects that it misses.
import { describe, expect, it } from 'vitest';
import { examineDefect, failedIds } from '../../exam/tv/examine.ts';
import { generatedDefects } from '../../exam/tv/generated-defects.ts';

const names = Object.keys(generatedDefects);
/** Exams that run at the same time. They wait most of their time. */
const atOnce = 10;

/** Returns the names of the defects in which no row fails. */
async function missedBy(quick: boolean, candidates: readonly string[]): Promise<string[]> {
  const waiting = [...candidates];
  const missed: string[] = [];
  const examineNext = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const report = await examineDefect({ ...generatedDefects[name], fails: [] }, { quick });
      const failed = failedIds(report);
      console.log(
        `${quick ? 'quick' : 'full'}: ${name}: ${failed.join(', ') || report.shortcoming || 'MISSED'}`,
      );
      if (failed.length === 0) missed.push(name);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, examineNext));
  return missed;
}

const shareFound = (missed: readonly string[]) => 1 - missed.length / names.length;

describe('the exam of TVs with generated defects', () => {
  it('finds 85 % in the quick exam, and 95 % in the full one', async () => {
    expect(names.length).toBeGreaterThanOrEqual(120);
    const missedByQuick = await missedBy(true, names);
    // The full exam has all parts of the quick one, for longer.
    const missedByFull = await missedBy(false, missedByQuick);
    const percents = [missedByQuick, missedByFull].map((one) => (100 * shareFound(one)).toFixed(1));
    console.log(`Of ${names.length} defects, quick ${percents[0]} %, full ${percents[1]} %.`);
    console.log(`Missed by the quick exam: ${missedByQuick.join('; ')}.`);
    console.log(`Missed by the full exam: ${missedByFull.join('; ')}.`);
    expect(shareFound(missedByQuick)).toBeGreaterThanOrEqual(0.85);
    expect(shareFound(missedByFull)).toBeGreaterThanOrEqual(0.95);
  });
});
