// Attacks on pairing codes. The full suite is guessing.full.ts.
import { expect, it } from 'vitest';
import { runAttacks } from './run-attacks.ts';
import { runClaims } from './run-claims.ts';
import { registerBySkewedClocks } from './skewed-clocks.ts';

it('100 attacks stay within the limit of guesses, learn nothing, and do not stop trusted TVs', async () => {
  const tally = await runAttacks({ count: 100, seed: 1 });
  expect(tally.findings).toEqual([]);
  expect(tally.honest).toBeGreaterThan(20);
  expect(tally.paired).toBe(tally.honest);
  // The documented maximum is reached and not exceeded.
  expect(tally.peak).toBe(198);
  expect(tally.besiegedPaired).toBe(tally.besieged);
});

it('codes end by the clock of the store, whichever instance is asked', async () => {
  expect(await registerBySkewedClocks()).toEqual([]);
});

it('500 steps against claims: nothing is bound without an installer of the tenant', async () => {
  const { findings, ...totals } = await runClaims({ steps: 500, seed: 'quick' });
  expect(findings).toEqual([]);
  expect(totals.tried).toBeGreaterThan(5);
  expect(totals.stolen).toBeGreaterThan(5);
  expect(totals.links).toBeGreaterThan(5);
  expect(totals.ticketed).toBeGreaterThan(5);
  expect(totals.paired).toBe(totals.tried);
});
