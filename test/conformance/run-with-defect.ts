import { makeUndiciRequester } from '../../src/client/undici-requester.ts';
import type { Outcome } from '../../src/conformance/check.ts';
import { runConformance } from '../../src/conformance/run-conformance.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type DefectName, serveWithDefect } from '../support/seeded-defects.ts';

/** The timeout of a request. Waits of this length never end, so that no request times out. */
const timeoutMs = 35_000;

/** A clock for the runner on the service's clock: waits end at once and advance the time. */
function advancingClock(clock: ManualClock): Clock {
  return {
    now: () => clock.now(),
    after(delayMs, wake) {
      if (delayMs === timeoutMs) return () => {};
      setImmediate(() => {
        clock.advance(delayMs);
        wake();
      });
      return () => {};
    },
  };
}

/**
 * Runs all checks against a service with this defect, waiting ones included. `ids` limits them to
 * id prefixes.
 */
export async function runWithDefect(
  defect: DefectName | undefined,
  ids: readonly string[] = [],
): Promise<{ outcomes: Outcome[]; left: readonly string[] }> {
  const clock = new ManualClock();
  const service = await serveWithDefect(defect, { clock });
  const outcomes: Outcome[] = [];
  let left: readonly string[] = [];
  const checks = runConformance({
    url: service.url,
    token: service.adminToken,
    clock: advancingClock(clock),
    ids,
    allow: ['time', 'guessing', 'tenants'],
    makeRequester: async (certificates) => makeUndiciRequester(certificates),
    onLeft: (what) => {
      left = what;
    },
  });
  for await (const outcome of checks) outcomes.push(outcome);
  await service.close();
  return { outcomes, left };
}

/** Returns the ids of the failed checks. */
export const failedIds = (outcomes: readonly Outcome[]) =>
  outcomes.filter(({ result }) => result === 'fail').map(({ id }) => id);
