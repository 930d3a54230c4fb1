import { describe, expect, it } from 'vitest';
import { searchCrashStates } from './search-crash-states.ts';

describe('a crash at any step of a life', () => {
  // The full form is `npm run faults`.
  it('leaves all that was acknowledged, nothing that was refused and nothing in part, and a store that goes on', {
    timeout: 300_000,
  }, async () => {
    const report = await searchCrashStates({
      lives: 4,
      tornEveryBytes: 201,
      every: 23,
      recoveryEvery: 100,
    });
    expect(report.bad).toEqual([]);
    expect(report.states).toBeGreaterThan(400);
    expect(report.inRecovery).toBeGreaterThan(50);
  });
});
