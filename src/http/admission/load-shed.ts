import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, type Random, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import {
  OverloadDetector,
  type OverloadLimits,
  type PendingResponse,
} from './overload-detector.ts';

/**
 * Requests that wait for different resources are limited separately: a slow disk delays writes, and
 * must not delay playlists. Registrations, and `strangers` (requests without a recently verified
 * credential), can come from anybody. A flood of them must not affect TVs.
 */
export type ShedKind = 'reads' | 'writes' | 'management' | 'registrations' | 'strangers';

export interface LoadShedOptions {
  clock: Clock;
  random: Random;
  /** Answers a rejected request. */
  refuse(incoming: IncomingMessage, outgoing: ServerResponse, error: SignageError): void;
  /** Returns whether the request carries a recently verified credential. */
  isKnown(incoming: IncomingMessage): boolean;
  /** Called for each rejected request. */
  onShed(kind: ShedKind): void;
  /** Called when a kind of requests becomes overloaded, and when it recovers. */
  onOverloadChange?(kind: ShedKind, isOverloaded: boolean): void;
  limits?: OverloadLimits;
}

export interface LoadShed {
  /**
   * Returns whether the service may handle the request. If not, the request has been answered: 503
   * with a `Retry-After` (docs/protocol.md §1.8).
   */
  admit(incoming: IncomingMessage, outgoing: ServerResponse): boolean;
}

/**
 * The maximum wait is a third of a patient client's timeout, because the event loop and the network
 * also take time during overload. The floor is above the number of requests in flight of a healthy
 * service. Only a burst exceeds it, and a burst is over in time.
 */
const defaultLimits: OverloadLimits = { maxWaitMs: 3 * secondMs, floor: 256, settledMs: 900 };
const measureIntervalMs = 100;
/**
 * Upper bound of a measured interval. After a longer pause or a clock jump, the measurement says
 * nothing about the time between.
 */
const maxIntervalMs = 30 * secondMs;

/**
 * Requests of operators and browsers to the service itself. They are never rejected, nor are
 * preflights.
 */
const neverShed = /^\/(healthz|readyz|metrics|openapi\.json|docs|media)\b/;
/** Requests of TVs, the majority. Checked first to skip the regular expression. */
const tvPrefix = '/devices/';
const registration = /^\/devices\/register(?:$|\?)/;
const longPoll = /^\/v1\/.*[?&]waitSeconds=/;

function kindOf({ method, url = '' }: IncomingMessage, isKnown: boolean): ShedKind {
  if (registration.test(url)) return 'registrations';
  if (!isKnown) return 'strangers';
  if (url.startsWith('/v1/')) return 'management';
  return method === 'GET' || method === 'HEAD' ? 'reads' : 'writes';
}

/**
 * Sheds load: rejects requests before any work is done while more arrive than are answered.
 * Otherwise clients would time out, and the work would be wasted. Measures how many requests wait
 * and how fast they are answered (`OverloadDetector`), at most ten times a second. It measures at
 * most once per turn of the event loop, so that responses which are ready are counted.
 */
export function makeLoadShed({
  clock,
  random,
  refuse,
  isKnown,
  onShed,
  onOverloadChange = () => {},
  limits = defaultLimits,
}: LoadShedOptions): LoadShed {
  const kinds: ShedKind[] = ['reads', 'writes', 'management', 'registrations', 'strangers'];
  const detectors = Object.fromEntries(
    kinds.map((kind) => [kind, new OverloadDetector(limits)]),
  ) as Record<ShedKind, OverloadDetector>;
  let measuredAtMs = clock.now();
  let hasYielded = true;

  function measure(nowMs: number): void {
    const elapsedMs = Math.min(nowMs - measuredAtMs, maxIntervalMs);
    measuredAtMs = nowMs;
    hasYielded = false;
    setImmediate(() => {
      hasYielded = true;
    });
    for (const kind of kinds) {
      const before = detectors[kind].isOverloaded;
      detectors[kind].measure(elapsedMs);
      if (detectors[kind].isOverloaded !== before) onOverloadChange(kind, !before);
    }
  }

  function shed(kind: ShedKind, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const error = rejections[(random(1)[0] ?? 0) % rejections.length] as SignageError;
    refuse(incoming, outgoing, error);
    onShed(kind);
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
      const detector = detectors[kind];
      if (!detector.isOpen) {
        shed(kind, incoming, outgoing);
        return false;
      }
      // A long poll waits for an event, not for the service.
      if (longPoll.test(url)) return true;
      detector.add(
        kind === 'strangers' ? new UnknownCaller(outgoing, () => isKnown(incoming)) : outgoing,
      );
      return true;
    },
  };
}

/**
 * The pending response of a stranger. It counts as answered once the credential has been verified.
 */
class UnknownCaller implements PendingResponse {
  readonly #outgoing: ServerResponse;
  readonly #isKnown: () => boolean;

  constructor(outgoing: ServerResponse, isKnown: () => boolean) {
    this.#outgoing = outgoing;
    this.#isKnown = isKnown;
  }

  get headersSent(): boolean {
    return this.#outgoing.headersSent || this.#isKnown();
  }

  get writableEnded(): boolean {
    return this.#outgoing.writableEnded;
  }

  get req(): IncomingMessage {
    return this.#outgoing.req;
  }
}

const overloaded =
  'The service is overloaded and did not process this request. Retry after Retry-After.';
/**
 * Errors with a `Retry-After` of 5 to 20 seconds. The spread keeps rejected TVs from returning all
 * at once. Created once, because creating an error costs more than the rest of a rejection.
 */
const rejections = Array.from(
  { length: 16 },
  (_, n) => new SignageError('unavailable', overloaded, { retryAfterSeconds: 5 + n }),
);
