// Proves that each seeded defect fails exactly the expected checks, of all checks.
import { expect, it } from 'vitest';
import { expectedFailures } from '../../conformance/expected-failures.ts';
import { failedIds, runWithDefect } from '../../conformance/run-with-defect.ts';
import { defectNames } from '../../support/seeded-defects.ts';

it.each(defectNames)('a service that %s', async (defect) => {
  const { outcomes, left } = await runWithDefect(defect);
  expect(failedIds(outcomes)).toEqual(expectedFailures[defect]);
  expect(left).toEqual([]);
});
