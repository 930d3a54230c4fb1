import type { TvOperation } from '../../faults/tv-call.ts';
import { secondConfig } from '../parts/options.ts';
import { isGood } from '../parts/waits.ts';
import type { TvExchange } from '../wire/exchange.ts';
import { fail, notMet, pass, skip, type TvCheck } from './check.ts';
import { type ExamView, shown } from './exam-view.ts';

const always = { level: 'must', section: '2.6' } as const;

/** A period in which all requests of an operation failed. */
interface Outage {
  attempts: readonly TvExchange[];
  tvSeconds: number;
}

const operations: readonly TvOperation[] = ['getPlaylist', 'getDeviceConfig', 'postEvents'];

/** Returns the periods in which requests failed without a `Retry-After`. */
function outages(view: ExamView): Outage[] {
  const ends = [
    ['playlist.500', 'playlist failures end'],
    ['playlist.500-ended', 'end is over'],
    ['config.500', 'config failures end'],
    ['network.away', 'network is back'],
  ] as const;
  return ends.flatMap(([fault, mark]) => {
    const endMs = view.markedMs(mark);
    if (endMs === undefined) return [];
    return operations.flatMap((operation) => {
      const attempts = view.faulted(fault).filter((one) => one.operation === operation);
      const [first] = attempts;
      return first ? [{ attempts, tvSeconds: view.tvSeconds(first.endMs, endMs) }] : [];
    });
  });
}

/**
 * Returns the maximum number of attempts in an outage. The backoff starts at one second and doubles
 * up to the interval. The constant 3 covers the first attempt, one more attempt because jitter may
 * halve the delays, and a tolerance of one.
 */
function allowedAttempts(tvSeconds: number): number {
  const intervalSeconds =
    60 * Math.min(secondConfig.syncIntervalMinutes, secondConfig.heartbeatIntervalMinutes);
  return Math.ceil(3 + Math.log2(1 + tvSeconds) + tvSeconds / intervalSeconds);
}

/**
 * Delays count as equal if they differ from the median by at most this share, or by at most this
 * number of real milliseconds.
 */
const equalShare = 0.03;
const equalMs = 8;

/** Number of delays below which some may be equal by chance. */
const minDelays = 6;
/** Greatest chance of equal delays that are random. */
const maxChance = 0.01;

/**
 * Returns the delays after the nth failure in a row, by n. Ignores failures after a `Retry-After`,
 * because TVs may number them differently.
 */
function retryDelays(view: ExamView): Map<number, number[]> {
  const delays = new Map<number, number[]>();
  for (const operation of operations) {
    let failures = 0;
    let hasRetryAfter = false;
    const all = view.of(operation);
    for (const [at, one] of all.entries()) {
      const next = all[at + 1];
      const isDelayed = one.answer?.retryAfterSeconds !== undefined;
      const isFailure = one.end === 'cut' || one.end === 'lost' || (one.answer?.status ?? 0) >= 500;
      failures = isFailure ? failures + 1 : 0;
      hasRetryAfter = isFailure && (hasRetryAfter || isDelayed);
      if (failures === 0 || hasRetryAfter || !next) continue;
      const group = delays.get(failures) ?? [];
      group.push(next.atMs - one.endMs);
      delays.set(failures, group);
    }
  }
  return delays;
}

const medianOf = (delays: readonly number[]): number =>
  delays.toSorted((one, other) => one - other)[delays.length >> 1] as number;

/** Returns the delays of a group that are equal to its median, within the tolerance. */
function equalDelays(delays: readonly number[]): number[] {
  const median = medianOf(delays);
  const tolerance = Math.max(equalShare * median, equalMs);
  return delays.filter((ms) => Math.abs(ms - median) <= tolerance);
}

/**
 * Returns the chance that delays look equal although each is multiplied by 0.5 to 1. The delays of
 * a simulated TV that runs fast are as short as the tolerance.
 */
function chanceOfEqual(groups: readonly number[][]): number {
  return groups.reduce((chance, delays) => {
    const median = medianOf(delays);
    const share = Math.min(1, (3 * Math.max(equalShare * median, equalMs)) / median);
    return chance * share ** (Math.ceil(0.75 * delays.length) - 1);
  }, 1);
}

/**
 * Returns whether at least 75 % of the delays are equal. A busy machine may have prolonged the
 * others.
 */
function areEqual(groups: readonly number[][]): boolean {
  return groups.flatMap(equalDelays).length >= 0.75 * groups.flat().length;
}

export const retryChecks: readonly TvCheck[] = [
  {
    ...always,
    id: 'tv.retry-after.honoured',
    title: 'The TV waits for Retry-After',
    expected: 'no repeat of the request before the time in Retry-After has passed',
    advice:
      'After an answer with Retry-After, wait that number of seconds before you repeat the request.',
    judge(view) {
      const delayed = view.exchanges.filter(
        ({ operation, end, answer }) =>
          operation !== 'registerDevice' &&
          operation !== 'getDeviceChanges' &&
          end === 'answered' &&
          answer?.retryAfterSeconds !== undefined,
      );
      const pairs = delayed.flatMap((one) => {
        const next = view.nextOf(one);
        return next ? [{ one, next }] : [];
      });
      const early = pairs.find(
        ({ one, next }) => !view.isAfter(one.answer?.retryAfterSeconds ?? 0, next.atMs - one.endMs),
      );
      if (pairs.length === 0) return skip('The TV got no answer with Retry-After.');
      if (!early) return pass(`${pairs.length} answers with Retry-After.`);
      const { one, next } = early;
      return fail(
        `${shown(one)}, Retry-After: ${one.answer?.retryAfterSeconds}; the next request after ${view.span(next.atMs - one.endMs)}.`,
      );
    },
  },
  {
    ...always,
    id: 'tv.backoff.grows',
    title: 'Delays grow while requests fail',
    expected: 'a delay that doubles after each failure, up to the sync interval',
    advice:
      'Wait 1 to 2 seconds after the first failure. Double the delay after each further failure.',
    judge(view) {
      const all = outages(view);
      if (all.length === 0) return skip('No request failed for a while.');
      const worst = all.find(
        ({ attempts, tvSeconds }) => attempts.length > allowedAttempts(tvSeconds),
      );
      const counts = all.map(
        ({ attempts, tvSeconds }) => `${attempts.length} in ${tvSeconds.toFixed(0)} s`,
      );
      if (all.every(({ attempts }) => attempts.length < 2))
        return skip('The TV repeated no request while it failed.');
      if (!worst) return pass(`Attempts: ${counts.join(', ')}.`);
      const { attempts, tvSeconds } = worst;
      return fail(
        `${shown(attempts[0] as TvExchange)}; ${attempts.length} attempts in ${tvSeconds.toFixed(0)} s, at most ${allowedAttempts(tvSeconds)} are expected.`,
      );
    },
  },
  {
    ...always,
    level: 'should',
    id: 'tv.backoff.jitter',
    title: 'Delays after failures are random',
    expected: 'delays that differ from one failure to the next',
    advice: 'Multiply each delay by a random number, for example from 0.5 to 1.',
    judge(view) {
      const groups = [...retryDelays(view).values()].filter((delays) => delays.length >= 3);
      if (groups.flat().length < minDelays) return skip('Too few requests failed to measure.');
      const first = (groups[0] as number[]).map((ms) => view.span(ms)).slice(0, 4);
      const seen = `Delays after the first failure: ${first.join(', ')}.`;
      if (!areEqual(groups)) return pass(seen);
      return chanceOfEqual(groups) > maxChance
        ? skip('The delays were too few and too short to tell chance from intent.')
        : fail(seen);
    },
  },
  {
    ...always,
    part: 'config',
    id: 'tv.errors.no-hammering',
    title: 'The TV does not repeat a request quickly after 403',
    expected: 'the next request after at least half a sync interval',
    advice:
      'Log a 4xx that the protocol does not name, and repeat the request at the sync interval.',
    judge(view) {
      const [refused] = view.faulted('config.403');
      if (!refused) return notMet(view, 'config.403', 'request for its config');
      const next = view.nextOf(refused);
      if (!next) return skip('The TV sent no request for its config after the 403.');
      const waitedMs = next.atMs - refused.endMs;
      const seen = `${shown(refused)}; the next request after ${view.span(waitedMs)}.`;
      return view.isLateEnough(waitedMs, view.syncMinutesAt(refused.endMs))
        ? pass(seen)
        : fail(seen);
    },
  },
];

/** Statuses that indicate a mistake of the app. */
const mistakes = [400, 404, 405, 408, 413, 415, 431, 501];
/** Error codes that a correct app may get with these statuses. */
const noMistakes = ['playlist_not_found', 'pairing_code_not_found', 'idempotency_key_reused'];

export const wireChecks: readonly TvCheck[] = [
  {
    id: 'tv.http.valid-requests',
    level: 'must',
    section: '1.3',
    title: 'All requests are valid',
    expected: 'no request that the service refuses because of a mistake in the app',
    advice: 'Compare the request with the protocol. The answer of the service names the mistake.',
    judge(view) {
      const own = view.exchanges.filter(
        ({ operation, fault, end }) =>
          operation !== 'registerDevice' && fault === undefined && end === 'answered',
      );
      const wrong = own.filter(
        ({ answer, operation }) =>
          answer !== undefined &&
          mistakes.includes(answer.status) &&
          (operation === 'rotateDeviceKey' || !noMistakes.includes(answer.code ?? '')),
      );
      if (own.length === 0) return skip('The TV sent no requests with a key.');
      const [first] = wrong;
      return first
        ? fail(`${wrong.length} of ${own.length} requests. ${shown(first)}.`)
        : pass(`${own.length} requests, ${own.filter(isGood).length} good answers.`);
    },
  },
  {
    id: 'tv.http.secret-not-in-url',
    level: 'must',
    section: '2.1',
    title: 'Keys and codes are not part of a URL',
    expected: 'the key in the header Authorization, the code in the body',
    advice: 'Proxies and logs keep URLs. Send the key in the header Authorization only.',
    judge(view) {
      const leaking = view.exchanges.find(({ hasSecretInPath }) => hasSecretInPath);
      if (view.exchanges.length === 0) return skip('The TV sent no requests.');
      return leaking ? fail(`${shown(leaking)}.`) : pass(`${view.exchanges.length} requests.`);
    },
  },
];
