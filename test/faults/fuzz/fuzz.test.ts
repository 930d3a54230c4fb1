// Mutated requests. The full suite is fuzz.full.ts.
import { expect, it } from 'vitest';
import { runFuzz } from './run-fuzz.ts';
import { withFuzzed } from './with-fuzzed.ts';

it('answers random requests as documented, and never with 500', async () => {
  const { requests, statuses, kinds, wrong } = await withFuzzed({}, (subject) =>
    runFuzz({ ...subject, seed: 'quick', requests: 1500 }),
  );
  expect(wrong).toEqual([]);
  expect(requests).toBeGreaterThanOrEqual(1500);
  // Enough requests must pass the first checks.
  expect(
    [200, 201, 202, 204, 400, 401, 403, 404, 405, 409, 415].filter(
      (status) => !statuses.has(status),
    ),
  ).toEqual([]);
  expect(kinds).toBeGreaterThan(150);
}, 120_000);
