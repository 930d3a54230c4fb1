import { describe, expect, it } from 'vitest';
import { searchCrashStates } from './search-crash-states.ts';
import { bulkSteps } from './steps.ts';

describe('a crash at any step of a life', () => {
  // `npm run faults` runs the full suite.
  it('keeps acknowledged changes, no refused or partial ones, and a working store', {
    timeout: 300_000,
  }, async () => {
    const report = await searchCrashStates({
      lives: 3,
      tornEveryBytes: 401,
      every: 29,
      recoveryEvery: 100,
    });
    expect(report.bad).toEqual([]);
    expect(report.states).toBeGreaterThan(150);
    expect(report.inRecovery).toBeGreaterThan(10);
  });

  it('keeps all audit entries of large changes that arrive during a checkpoint', {
    timeout: 120_000,
  }, async () => {
    const report = await searchCrashStates({
      lives: 1,
      scenarioSteps: bulkSteps,
      tornEveryBytes: 100_000,
      every: 31,
    });
    expect(report.bad).toEqual([]);
    expect(report.states).toBeGreaterThan(5);
  });
});
