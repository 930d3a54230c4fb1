import { expect, it } from 'vitest';
import { type CrashSearch, searchCrashStates } from './search-crash-states.ts';
import { bulkSteps } from './steps.ts';

const searches: Record<string, CrashSearch> = {
  'each record torn at each of its bytes': {
    lives: 1,
    tornEveryBytes: 1,
    twiceEvery: 16,
    recoveryEvery: 2000,
  },
  'a segment of the journal is full, and the next is begun': {
    lives: 1,
    scenarioSteps: [
      'change',
      'large change',
      'change',
      'batch',
      'group',
      'minute',
      'change',
      'kill',
      'change',
    ],
    tornEveryBytes: 2_000_000,
    every: 12,
  },
  'changes with many audit entries, before and during a checkpoint': {
    lives: 3,
    scenarioSteps: bulkSteps,
    tornEveryBytes: 20_000,
    every: 2,
    recoveryEvery: 100,
  },
  'many lives, their steps in another order each': {
    lives: 9,
    tornEveryBytes: 61,
    recoveryEvery: 250,
  },
};

let states = 0;

it.each(Object.entries(searches))('%s', async (name, search) => {
  const began = performance.now();
  const { bad, ...report } = await searchCrashStates(search);
  states += report.states;
  console.log(
    `crash states, ${name}: ${JSON.stringify({ ...report, bad: bad.length, seconds: Math.round((performance.now() - began) / 1000) })}`,
  );
  expect(bad.slice(0, 10)).toEqual([]);
});

it('100,000 distinct states were checked', () => {
  console.log(`crash states: ${states} in all`);
  expect(states).toBeGreaterThanOrEqual(100_000);
});
