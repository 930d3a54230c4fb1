import type { Requester } from '../../src/client/requester.ts';
import { makeUndiciRequester } from '../../src/client/undici-requester.ts';
import type { Outcome } from '../../src/conformance/fixture/check.ts';
import type { ConformanceOptions } from '../../src/conformance/options.ts';
import { runConformance } from '../../src/conformance/run-conformance.ts';
import { type Clock, secondMs } from '../../src/domain/clock.ts';
import type { ManualClock } from '../support/runtime/manual-clock.ts';
import { adminToken } from '../support/service/management.ts';

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

/** Sends requests, and lets time pass while one is held: a service with a defect may not end it. */
function requesterWithClock(clock: ManualClock): Requester {
  const send = makeUndiciRequester(undefined);
  return async (url, parts) => {
    if (!url.includes('waitSeconds=')) return send(url, parts);
    const passing = setInterval(() => clock.advance(secondMs), 250);
    return send(url, parts).finally(() => clearInterval(passing));
  };
}

export interface Run {
  outcomes: Outcome[];
  /** The records that could not be deleted. */
  left: readonly string[];
  /** The error that ended the run. */
  error: unknown;
}

/** Runs checks and collects their outcomes until the run ends, with or without an error. */
export async function runChecks(
  url: string,
  options: Partial<ConformanceOptions> = {},
): Promise<Run> {
  const outcomes: Outcome[] = [];
  const left: string[] = [];
  const checks = runConformance({
    url,
    token: adminToken,
    makeRequester: async (certificates) => makeUndiciRequester(certificates),
    onLeft: (what) => void left.push(...what),
    ...options,
  });
  let error: unknown;
  try {
    for await (const outcome of checks) outcomes.push(outcome);
  } catch (thrown) {
    error = thrown;
  }
  return { outcomes, left, error };
}

/** Runs all checks, those that need a permission included, against a service with this clock. */
export const runAllChecks = (
  { url, clock }: { url: string; clock: ManualClock },
  options: Partial<ConformanceOptions> = {},
): Promise<Run> =>
  runChecks(url, {
    clock: advancingClock(clock),
    makeRequester: async () => requesterWithClock(clock),
    allow: ['time', 'guessing', 'tenants'],
    ...options,
  });

export const withResult = (outcomes: readonly Outcome[], result: Outcome['result']) =>
  outcomes.filter((one) => one.result === result);
