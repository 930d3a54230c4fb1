import type { TvStyle } from '../examined-tv.ts';
import {
  changesEvents,
  changesHeader,
  changesRequests,
  type Link,
  type LinkRequest,
  linked,
  problem,
  without,
} from './link.ts';
import type { SeededDefect } from './seeded-defect.ts';

const minuteMs = 60_000;
const rotateEveryMs = 3 * minuteMs;

/** A TV without the optional `GET …/changes`. */
const withoutChanges: Link = (send) => async (request) =>
  request.operation === 'changes' ? problem(404, 'not_found') : send(request);

/** A TV without the optional `seq` and `X-Device-Time`. */
const withoutNumbers = linked(
  changesEvents((event) => without(event, 'seq')),
  changesHeader('x-device-time', () => undefined),
);

/** A TV that sends a heartbeat at its start, not `app_started`. */
const beatsAtStart = changesEvents((event) =>
  event.type === 'app_started' ? { ...event, type: 'heartbeat' } : event,
);

const bare = linked(withoutNumbers, withoutChanges, beatsAtStart);

/** A TV that sends its events only every third minute. Until then, it gets no answer but 503. */
const reportsRarely: Link = (send, { clock }) => {
  const flushMs = 3000;
  let opensMs = 0;
  let closesMs = Number.POSITIVE_INFINITY;
  const waits = (request: LinkRequest) => request.operation === 'events' && clock.now() < opensMs;
  return async (request) => {
    if (clock.now() > closesMs) {
      opensMs = closesMs + 3 * minuteMs;
      closesMs = Number.POSITIVE_INFINITY;
    }
    if (waits(request)) {
      const seconds = Math.ceil((opensMs - clock.now()) / 1000);
      const refused = problem(503, 'unavailable');
      return { ...refused, headers: { ...refused.headers, 'retry-after': String(seconds) } };
    }
    const answer = await send(request);
    if (request.operation === 'events' && answer.status === 202)
      closesMs = Math.min(closesMs, clock.now() + flushMs);
    return answer;
  };
};

/** A TV that asks for five times the hold. */
const longWaits = changesRequests(
  (request) => ({
    ...request,
    url: request.url.replace(/waitSeconds=(\d+)/, (_, seconds) => `waitSeconds=${seconds * 5}`),
  }),
  'changes',
);

/** TVs of different styles that all follow docs/protocol.md. The exam must fail none of them. */
export const styles = {
  'only polls': { link: bare },
  'holds changes and rotates its key': { options: { rotateEveryMs } },
  'holds changes for minutes': { link: longWaits },
  'reports only every third heartbeat': {
    link: linked(bare, reportsRarely),
  },
  'numbers its events and tells the time of its clock': { link: withoutChanges },
  'has a clock that is 90 seconds ahead': { link: withoutChanges, clockAheadMs: 90_000 },
} satisfies Record<string, TvStyle>;

/** Returns the TV with a defect. */
export function styleOf({ link = (send) => send, style = {}, uses }: SeededDefect): TvStyle {
  const ofUnused = [
    ...(uses === 'numbers' ? [] : [withoutNumbers]),
    ...(uses === 'changes' ? [] : [withoutChanges]),
    beatsAtStart,
  ];
  return { ...style, link: linked(...ofUnused, link) };
}
