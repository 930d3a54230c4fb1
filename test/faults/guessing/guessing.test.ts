// Attacks on pairing codes. The full suite is guessing.full.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runAttacks, runSchedule } from './run-attacks.ts';
import { runClaims } from './run-claims.ts';
import { runRegistrations } from './run-registrations.ts';
import type { Place, Step } from './schedule.ts';

it('1,000 attacks stay within the limit of guesses, learn nothing, and do not stop trusted TVs', async () => {
  const tally = await runAttacks({ schedules: 1_000, seed: 'quick' });
  expect(tally.findings).toEqual([]);
  expect(tally.honest).toBeGreaterThan(300);
  expect(tally.paired).toBe(tally.honest);
  // The documented maximum is reached and not exceeded.
  expect(tally.peak).toBe(198);
  expect(tally.besiegedPaired).toBe(tally.besieged);
}, 60_000);

it('generated attacks stay within the same limits', async () => {
  const by = fc.nat(2);
  const from = fc.constantFrom<Place>(
    0,
    1,
    'fresh',
    'fresh',
    'fresh prefix',
    'rotating',
    'one /60',
    'one /48',
    'foothold',
    'home',
  );
  const of = fc.constantFrom('victim' as const, 'own' as const);
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      do: fc.constant('wait' as const),
      ms: fc.oneof(fc.nat(1_000_000), fc.constantFrom(899_999, 900_000)),
    }),
    fc.record({
      do: fc.constant('guess' as const),
      count: fc.nat(40),
      from,
      by,
      everyMs: fc.constantFrom(0, 0, 1000, 7031),
    }),
    fc.record({ do: fc.constant('hit' as const), of, count: fc.nat(3), from, by }),
    fc.record({
      do: fc.constant('pair' as const),
      at: fc.constantFrom(0 as const, 1 as const, 2 as const),
      by,
    }),
    fc.record({ do: fc.constant('restart' as const), by }),
    fc.record({ do: fc.constant('work' as const), of: fc.constant('own' as const), from, by }),
  );
  const skewsMs = fc.array(fc.integer({ min: -3_600_000, max: 3_600_000 }), {
    minLength: 1,
    maxLength: 3,
  });
  const settled: Step[] = (['venue 0', 'venue 1', 'venue 2', 'foothold'] as const).map(
    (place, n) => ({
      ...{ do: 'work', of: 'victim', from: place, by: n },
    }),
  );
  await fc.assert(
    fc.asyncProperty(skewsMs, fc.array(step, { maxLength: 25 }), async (skews, steps) => {
      const tally = await runSchedule({
        kind: 'any',
        skewsMs: skews,
        steps: [...settled, ...steps],
      });
      expect(tally.findings).toEqual([]);
      expect([tally.paired, tally.besiegedPaired]).toEqual([tally.honest, tally.besieged]);
    }),
    { numRuns: 150 },
  );
});

it('15 scenarios: registrations get the answer of their code, also with wrong clocks', async () => {
  const tally = await runRegistrations({ scenarios: 15, seed: 'quick' });
  expect(tally.findings).toEqual([]);
  expect(tally.bound).toBeGreaterThan(50);
}, 60_000);

it('500 steps against claims: nothing is bound without an installer of the tenant', async () => {
  const totals = await runClaims({ steps: 500, seed: 'quick' });
  expect(totals.findings).toEqual([]);
  expect(totals.guesses).toBeGreaterThan(100);
  expect(totals.tried).toBeGreaterThan(10);
  expect(totals.paired).toBe(totals.tried);
}, 60_000);
