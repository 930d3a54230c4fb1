// Mutated requests. The full suite is fuzz.full.ts.
import { expect, it } from 'vitest';
import { operations } from '../../../src/wire/operations.ts';
import { callerKinds } from './compose-request.ts';
import { runCallers } from './run-callers.ts';
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

it('answers each operation as documented to a platform token, a tenant token and a TV', async () => {
  const { requests, succeeded, wrong } = await withFuzzed({}, (subject) =>
    runCallers({ ...subject, seed: 'callers', each: 4 }),
  );
  expect(wrong).toEqual([]);
  expect(requests).toBe(Object.keys(operations).length * callerKinds.length * 4);
  expect(succeeded.size).toBeGreaterThan(Object.keys(operations).length * 0.8);
}, 120_000);
