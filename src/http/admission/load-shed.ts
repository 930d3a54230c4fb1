import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, type Random, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { OverloadDetector, type OverloadLimits, type Waiting } from './overload-detector.ts';

/**
 * What waits for different things is judged apart: a slow disk holds up what is to be stored, and must not keep playlists from TVs. Registrations, and
 * `strangers` (requests without a credential that worked lately), come from anybody: a flood of them must not turn TVs away.
 */
export type ShedKind = 'reads' | 'writes' | 'management' | 'registrations' | 'strangers';

export interface LoadShedOptions {
  clock: Clock;
  random: Random;
  /** Answers a request that is turned away. */
  refuse(incoming: IncomingMessage, outgoing: ServerResponse, error: SignageError): void;
  /** Whether the request shows a credential that worked lately. */
  isKnown(incoming: IncomingMessage): boolean;
  /** Told of each of them. */
  onShed(kind: ShedKind): void;
  /** Told when a kind of requests begins to be turned away, and when no more. */
  onTurn?(kind: ShedKind, isOverloaded: boolean): void;
  limits?: OverloadLimits;
}

export interface LoadShed {
  /** Whether the service may begin with the request. If not, it has been answered: 503 with a `Retry-After` (docs/protocol.md §1.8). */
  admit(incoming: IncomingMessage, outgoing: ServerResponse): boolean;
}

/** A third of what a patient client waits, for the event loop and the way out take their time as well while many are refused; and more in flight than a service that is well has, but for a herd, which gets through in time. */
const ownLimits: OverloadLimits = { longestWaitMs: 3 * secondMs, floor: 256, settledMs: 900 };
const lookMs = 100;
/** After a pause longer than this, or a jump of the clock, what was measured says nothing about the time between. */
const longestLookMs = 30 * secondMs;

/** What operators and browsers ask of the service itself, and preflights: answered at once, also while it is overloaded. */
const always = /^\/(healthz|readyz|metrics|openapi\.json|docs|media)\b/;
/** What TVs ask, which is nearly all. */
const runtime = '/devices/';
const registration = /^\/devices\/register(?:$|\?)/;
const longPoll = /^\/v1\/.*[?&]waitSeconds=/;

function kindOf({ method, url = '' }: IncomingMessage, isKnown: boolean): ShedKind {
  if (registration.test(url)) return 'registrations';
  if (!isKnown) return 'strangers';
  if (url.startsWith('/v1/')) return 'management';
  return method === 'GET' || method === 'HEAD' ? 'reads' : 'writes';
}

/**
 * Turns requests away before anything was done for them, while more come than get through: nobody would wait for their answers any more, and the
 * work on them would be lost. What is measured is how many wait and how fast they get through (`OverloadDetector`), at most ten times a second and never twice
 * in one turn of the event loop, so that answers which are ready count as such.
 */
export function makeLoadShed({
  clock,
  random,
  refuse,
  isKnown,
  onShed,
  onTurn = () => {},
  limits = ownLimits,
}: LoadShedOptions): LoadShed {
  const kinds: ShedKind[] = ['reads', 'writes', 'management', 'registrations', 'strangers'];
  const lanes = Object.fromEntries(
    kinds.map((kind) => [kind, new OverloadDetector(limits)]),
  ) as Record<ShedKind, OverloadDetector>;
  let [lookedAtMs, hasTurned] = [clock.now(), true];

  function look(nowMs: number): void {
    const elapsedMs = Math.min(nowMs - lookedAtMs, longestLookMs);
    lookedAtMs = nowMs;
    hasTurned = false;
    setImmediate(() => {
      hasTurned = true;
    });
    for (const kind of kinds) {
      const before = lanes[kind].isOverloaded;
      lanes[kind].look(elapsedMs);
      if (lanes[kind].isOverloaded !== before) onTurn(kind, !before);
    }
  }

  function turnAway(kind: ShedKind, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const error = refusals[(random(1)[0] ?? 0) % refusals.length] as SignageError;
    refuse(incoming, outgoing, error);
    onShed(kind);
  }

  return {
    admit(incoming, outgoing) {
      const nowMs = clock.now();
      if (nowMs < lookedAtMs) lookedAtMs = nowMs;
      if (hasTurned && nowMs - lookedAtMs >= lookMs) look(nowMs);
      const url = incoming.url ?? '';
      if (incoming.method === 'OPTIONS' || (!url.startsWith(runtime) && always.test(url)))
        return true;
      const kind = kindOf(incoming, isKnown(incoming));
      const lane = lanes[kind];
      if (!lane.isOpen) {
        turnAway(kind, incoming, outgoing);
        return false;
      }
      // A held answer waits for something to happen, not for the service.
      if (longPoll.test(url)) return true;
      lane.add(kind === 'strangers' ? new Unproven(outgoing, () => isKnown(incoming)) : outgoing);
      return true;
    },
  };
}

/** A stranger waits for nothing but to be told from one whose credential works. */
class Unproven implements Waiting {
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
  'More requests come than the service can answer: nothing was done for this one. Try again after Retry-After.';
/** 5 to 20 seconds: soon enough for a TV, and far enough apart that they do not all come back at once. Made once, for an error costs more than all the rest. */
const refusals = Array.from(
  { length: 16 },
  (_, n) => new SignageError('unavailable', overloaded, { retryAfterSeconds: 5 + n }),
);
