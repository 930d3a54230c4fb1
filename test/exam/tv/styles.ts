import { randomUUID } from 'node:crypto';
import type { TvStyle } from '../examined-tv.ts';
import {
  changesAnswers,
  changesBodies,
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

/** Changes an interval of each config that the TV gets. */
const scalesInterval = (
  name: 'syncIntervalMinutes' | 'heartbeatIntervalMinutes',
  factor: number,
): Link => {
  const scaled = (config: Record<string, number>) => ({
    ...config,
    [name]: factor * (config[name] ?? 1),
  });
  return linked(
    changesBodies(scaled, 'config'),
    changesBodies(({ config, ...registered }) => {
      return { ...registered, config: scaled(config) };
    }, 'register'),
  );
};

/** Repairs the events that a 400 names, and sends the batch again under another key. */
const repairs: Link = (send) => async (request) => {
  const answer = await send(request);
  if (request.operation !== 'events' || answer.status !== 400) return answer;
  const named: { path: string }[] = answer.json.errors ?? [];
  const wrong = named.map(({ path }) => Number(path.split('/')[1]));
  const events = JSON.parse(request.body ?? '[]').map((event: object, index: number) =>
    wrong.includes(index) ? { ...event, isRepaired: true } : event,
  );
  const headers = { ...request.headers, 'idempotency-key': randomUUID() };
  return send({ ...request, headers, body: JSON.stringify(events) });
};

/** Uses the id of its device in its paths, not the id of its screen. */
const withDeviceId: Link = (send, tv) => {
  let ids: { screenId: string; deviceId: string } | undefined;
  return linked(
    changesBodies((registered) => {
      ids = registered;
      return registered;
    }, 'register'),
    changesRequests((request) =>
      ids ? { ...request, url: request.url.replace(ids.screenId, ids.deviceId) } : request,
    ),
  )(send, tv);
};

const inCapitals = (event: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(event).map(([name, value]) => [
      name,
      name.endsWith('Id') && typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value)
        ? value.toUpperCase()
        : value,
    ]),
  );

/** Styles that differ from `only polls` in one respect. */
const polls = (link: Link): TvStyle => ({ link: linked(bare, link) });

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
  'has a clock that is a day behind': { link: bare, clockAheadMs: -86_400_000 },
  'sends its times in milliseconds': polls(
    changesEvents((event) => ({ ...event, timestamp: 1000 * event.timestamp })),
  ),
  'sends no durations': polls(changesEvents((event) => without(event, 'duration'))),
  'sends whole seconds as durations': polls(
    changesEvents((event) =>
      event.duration === undefined ? event : { ...event, duration: Math.round(event.duration) },
    ),
  ),
  'sends ids in capitals': polls(changesEvents(inCapitals)),
  'sends members of its own': polls(changesEvents((event) => ({ ...event, own: { of: 'TV' } }))),
  'repairs events that a 400 names': polls(repairs),
  'has keys of 200 characters': polls(
    changesHeader('idempotency-key', (key) => key.padEnd(200, '-')),
  ),
  'uses the id of its device': polls(withDeviceId),
  'writes bearer in small letters': polls(
    changesHeader('authorization', (value) => value.replace('Bearer', 'bearer')),
  ),
  'does not know upcoming': polls(
    changesBodies((playlist) => without(without(playlist, 'upcoming'), 'entries'), 'playlist'),
  ),
  'waits longer than Retry-After': polls(
    changesAnswers(({ headers, ...answer }) => {
      const seconds = headers['retry-after'];
      if (seconds === undefined) return { ...answer, headers };
      return { ...answer, headers: { ...headers, 'retry-after': String(1.2 * Number(seconds)) } };
    }),
  ),
  'polls a quarter more rarely': polls(scalesInterval('syncIntervalMinutes', 1.25)),
  'sends heartbeats a quarter more rarely': polls(scalesInterval('heartbeatIntervalMinutes', 1.25)),
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
