// Proves that each seeded defect of a service fails exactly the expected checks, of all checks.
import { expect, it } from 'vitest';
import { runAllChecks, withResult } from '../../conformance/run-checks.ts';
import { expectedFailures } from '../../support/runtime/expected-failures.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { defectNames, serveWithDefect } from '../../support/stores/seeded-defects.ts';

const failsOf = expectedFailures('service');

it.each(defectNames)('a service that %s: fails exactly the expected checks', async (defect) => {
  const clock = new ManualClock();
  const { url, adminToken: token, close } = await serveWithDefect(defect, { clock });
  const { outcomes, left, error } = await runAllChecks({ url, clock }, { token });
  await close();
  expect(withResult(outcomes, 'fail').map(({ id }) => id)).toEqual(failsOf(defect));
  expect(withResult(outcomes, 'pass')).not.toEqual([]);
  expect({ left, error }).toEqual({ left: [], error: undefined });
  expect(JSON.stringify(outcomes)).not.toMatch(/[dm]ak_[0-9A-Za-z]{10}/);
});
