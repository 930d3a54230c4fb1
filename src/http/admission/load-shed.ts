import type { IncomingMessage, ServerResponse } from 'node:http';
import { deviceKeyHash, type VerifiedHashes } from '../../domain/api-key.ts';
import { type Clock, type Random, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { LogSink } from '../../domain/log.ts';
import { tokenHash } from '../../service/auth/management-auth.ts';
import { type Metrics, type ShedKind, shedKinds } from '../metrics/metrics.ts';
import type { Admission, ServedRequest } from '../request/request-context.ts';
import { Lane, type OverloadLimits } from './lane.ts';

/**
 * Each kind of request has its own limit. A slow disk delays writes, but must not delay playlists.
 * Anybody can send registrations and requests without a recently verified credential (`strangers`).
 * A flood of them must not affect TVs.
 */

export interface LoadShedOptions {
  clock: Clock;
  random: Random;
  /** Answers a rejected request. */
  refuse(incoming: IncomingMessage, outgoing: ServerResponse, error: SignageError): void;
  /** Returns whether the request carries a recently verified credential. */
  isKnown(incoming: IncomingMessage): boolean;
  /** Counts each rejected request. */
  metrics: Pick<Metrics, 'requestShed'>;
  /**
   * Receives one entry when a kind of request becomes overloaded, and one entry when it recovers.
   * More entries would add to the overload.
   */
  log: Pick<LogSink, 'info' | 'warn'>;
  limits?: OverloadLimits;
}

export interface LoadShed {
  /**
   * Returns whether the service may handle the request. Otherwise, this call has already answered
   * it with 503 and a `Retry-After` (docs/protocol.md §1.8). An admitted request counts as in
   * progress from the end of its body until its `admission` ends. Preflights and paths in
   * `neverShed` do not count.
   */
  admit(incoming: ServedRequest, outgoing: ServerResponse): boolean;
}

/**
 * Returns a function that tells, without a look-up, whether a request carries a recently verified
 * device key or management token. The result is kept in `isKnown`. The hash of a device key is kept
 * in `keyHash`, so that authentication need not compute it again.
 */
export function makeIsKnown(verified: VerifiedHashes): (incoming: ServedRequest) => boolean {
  function hashOf(incoming: ServedRequest): string | undefined {
    const { authorization } = incoming.headers;
    if (authorization === undefined) return undefined;
    if (incoming.url?.startsWith('/v1/')) return tokenHash(authorization);
    incoming.keyHash = deviceKeyHash(authorization, verified);
    return incoming.keyHash;
  }

  return (incoming) => {
    if (incoming.isKnown === undefined) {
      const hash = hashOf(incoming);
      incoming.isKnown = hash !== undefined && verified.get(hash) === true;
    }
    return incoming.isKnown;
  };
}

/**
 * The maximum wait is a third of a typical client time-out, because the event loop and the network
 * also take time during overload. A healthy service exceeds the floor only in short bursts.
 */
const defaultLimits: OverloadLimits = { maxWaitMs: 3 * secondMs, floor: 256, settledMs: 900 };
const measureIntervalMs = 100;
/** Upper bound of a measured interval, in case of a long pause or a clock jump. */
const maxIntervalMs = 30 * secondMs;

/** Paths for operators and browsers. Requests for these paths are never rejected. */
const neverShed = /^\/(healthz|readyz|metrics|openapi\.json|docs)\b/;
/**
 * Path prefix of most requests: those of TVs. Checked first to skip the regular
 * expression.
 */
const tvPrefix = '/devices/';
const mediaPrefix = '/media/';
const registration = /^\/devices\/register(?:$|\?)/;

function kindOf({ method, url = '' }: IncomingMessage, isKnown: boolean): ShedKind {
  if (registration.test(url)) return 'registrations';
  if (url.startsWith(mediaPrefix)) return 'media';
  if (!isKnown) return 'strangers';
  if (url.startsWith('/v1/')) return 'management';
  return method === 'GET' || method === 'HEAD' ? 'reads' : 'writes';
}

/** Admission of one request to a lane. */
class LaneAdmission implements Admission {
  readonly #lane: Lane;
  readonly #isStranger: boolean;
  /** The result of `Lane.enter`. `undefined` while the request does not count as in progress. */
  #enteredAt: number | undefined;
  #hasEnded = false;

  constructor(lane: Lane, isStranger: boolean) {
    this.#lane = lane;
    this.#isStranger = isStranger;
  }

  begin(): void {
    if (!this.#hasEnded) this.#enteredAt = this.#lane.enter();
  }

  verified(): void {
    if (this.#isStranger) this.end();
  }

  end(): void {
    this.#hasEnded = true;
    if (this.#enteredAt !== undefined) this.#lane.leave(this.#enteredAt);
    this.#enteredAt = undefined;
  }
}

/**
 * Counts a request as in progress once its body is complete. A request of a stranger stops counting
 * as soon as its credential is verified.
 */
function enter(lane: Lane, incoming: ServedRequest, isStranger: boolean): void {
  const admission = new LaneAdmission(lane, isStranger);
  incoming.admission = admission;
  if (incoming.complete || !hasBody(incoming)) admission.begin();
  else incoming.once('end', () => admission.begin());
}

const hasBody = ({ headers }: ServedRequest) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Returns the load shedder, which rejects some requests during overload, before any work is done
 * for them. Otherwise clients would time out, and the work would be wasted. At most ten times a
 * second, it measures how many requests are in progress and how fast they are answered. It measures
 * at most once per turn of the event loop, so that it counts the responses sent in that turn.
 */
export function makeLoadShed({
  clock,
  random,
  refuse,
  isKnown,
  metrics,
  log,
  limits = defaultLimits,
}: LoadShedOptions): LoadShed {
  const lanes = new Map(shedKinds.map((kind) => [kind, new Lane(limits)]));
  let measuredAtMs = clock.now();
  let hasYielded = true;

  function measure(nowMs: number): void {
    const elapsedMs = Math.min(nowMs - measuredAtMs, maxIntervalMs);
    measuredAtMs = nowMs;
    hasYielded = false;
    setImmediate(() => {
      hasYielded = true;
    });
    for (const [kind, lane] of lanes) {
      const before = lane.isOverloaded;
      lane.measure(elapsedMs);
      if (lane.isOverloaded && !before)
        log.warn({ kind }, 'Overloaded: some requests are rejected.');
      if (before && !lane.isOverloaded)
        log.info({ kind }, 'The overload is over: no requests are rejected.');
    }
  }

  return {
    admit(incoming, outgoing) {
      const nowMs = clock.now();
      if (nowMs < measuredAtMs) measuredAtMs = nowMs;
      if (hasYielded && nowMs - measuredAtMs >= measureIntervalMs) measure(nowMs);
      const url = incoming.url ?? '';
      if (incoming.method === 'OPTIONS' || (!url.startsWith(tvPrefix) && neverShed.test(url)))
        return true;
      const kind = kindOf(incoming, isKnown(incoming));
      const lane = lanes.get(kind) as Lane;
      if (!lane.isOpen) {
        const error = rejections[(random(1)[0] ?? 0) % rejections.length] as SignageError;
        refuse(incoming, outgoing, error);
        metrics.requestShed(kind);
        return false;
      }
      enter(lane, incoming, kind === 'strangers');
      return true;
    },
  };
}

const overloaded =
  'The service is overloaded and did not process this request. Retry after the time in Retry-After.';
/**
 * Errors with a `Retry-After` of 5 to 20 seconds. The spread keeps rejected TVs from returning all
 * at once. Created once, because creating an error costs more than the rest of a rejection.
 */
const rejections = Array.from(
  { length: 16 },
  (_, n) => new SignageError('unavailable', overloaded, { retryAfterSeconds: 5 + n }),
);
