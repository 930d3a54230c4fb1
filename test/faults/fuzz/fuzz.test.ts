// Mutated requests. The full suite is fuzz.full.ts.
import { expect, it } from 'vitest';
import { operations } from '../../../src/wire/operations/operations.ts';
import { runFuzz, withFuzzed } from './run-fuzz.ts';

it('answers random requests as documented, and never with 500', async () => {
  const { requests, statuses, kinds, succeeded, wrong } = await withFuzzed({}, (subject) =>
    runFuzz({ ...subject, seed: 1, requests: 1500 }),
  );
  expect(wrong).toEqual([]);
  expect(requests).toBeGreaterThan(1400);
  // Enough requests must pass the first checks.
  expect(
    [200, 201, 202, 204, 400, 401, 403, 404, 405, 409, 415].filter(
      (status) => !statuses.has(status),
    ),
  ).toEqual([]);
  expect(kinds.size).toBeGreaterThan(150);
  expect(succeeded.size).toBeGreaterThan(Object.keys(operations).length * 0.5);
});
