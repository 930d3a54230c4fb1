import { makeUndiciRequester } from '../../src/client/undici-requester.ts';
import type { Outcome } from '../../src/conformance/check.ts';
import { runConformance } from '../../src/conformance/run-conformance.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type BugName, servePlanted } from '../support/planted-bugs.ts';

/** From here on a wait is a time-out of a request that is answered: it never ends. */
const timeoutMs = 35_000;

/** The runner's view of a service's clock: its waits are over at once, and time with them. */
function leaping(clock: ManualClock): Clock {
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

/** Every row that the service allows, waiting ones included, against a service with this bug: all of them, or those whose id begins so. */
export async function runPlanted(
  bug: BugName | undefined,
  ids: readonly string[] = [],
): Promise<{ outcomes: Outcome[]; left: readonly string[] }> {
  const clock = new ManualClock();
  const service = await servePlanted(bug, { clock });
  const outcomes: Outcome[] = [];
  let left: readonly string[] = [];
  const rows = runConformance({
    ...{
      url: service.url,
      token: service.adminToken,
      clock: leaping(clock),
      ids,
      allow: ['time', 'guessing', 'tenants'],
    },
    makeRequester: async (certificates) => makeUndiciRequester(certificates),
    onLeft: (what) => {
      left = what;
    },
  });
  for await (const outcome of rows) outcomes.push(outcome);
  await service.close();
  return { outcomes, left };
}

/** The ids of the rows that failed. */
export const red = (outcomes: readonly Outcome[]) =>
  outcomes.filter(({ result }) => result === 'fail').map(({ id }) => id);
