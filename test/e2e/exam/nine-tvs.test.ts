// Examines correct TVs and TVs with one defect, from the first request to the last. No power is
// cut, as in an exam without --power-cmd.
import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/domain/clock.ts';
import type { TvStyle } from '../../exam/examined-tv.ts';
import { examineStyle, failedIds } from '../../exam/tv/examine.ts';
import { seededDefects } from '../../exam/tv/seeded-defects.ts';
import { styleOf, styles } from '../../exam/tv/styles.ts';

/** Slower than other exams at the simulator's pace, because the machine may be busy. */
const pace = 12;

const correct: [name: string, style: TvStyle][] = [
  ['is correct', styles['only polls']],
  ['has a clock that is 90 seconds ahead', styles['has a clock that is 90 seconds ahead']],
];
const defects = [
  'fetches its config once',
  'never fetches its config again after a while',
  'drops the batch after a 500',
  'numbers the rest of a refused batch anew',
  'plays on when it is revoked',
  'plays a playlist beyond its end',
  'reports the duration of the playlist',
];

const tvs = [
  ...correct.map(([name, style]) => ({ name, style, fails: [] as readonly string[] })),
  ...defects.map((name) => {
    const defect = seededDefects[name] ?? { fails: ['no such defect'] };
    return { name, style: styleOf(defect), fails: defect.fails };
  }),
];

describe.concurrent('the quick exam of a TV that', { timeout: 180_000 }, () => {
  it.for(tvs)('$name: fails exactly the expected rows', async ({ style, fails }, { expect }) => {
    const startMs = performance.now();
    const { checks, isPassed, shortcoming } = await examineStyle(style, { pace, power: undefined });
    const minutes = (pace * (performance.now() - startMs)) / minuteMs;
    expect(failedIds({ checks }).toSorted()).toEqual(fails.toSorted());
    expect(isPassed).toBe(fails.length === 0);
    expect(shortcoming).toBeUndefined();
    expect(minutes).toBeLessThanOrEqual(12);
  });
});

it('there are nine of them', () => {
  expect(tvs).toHaveLength(9);
});
