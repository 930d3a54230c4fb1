// Defects made from operators and what they are applied to: what is met, and what the TV takes it
// for; which member, header or time is wrong, and how.
import { randomUUID } from 'node:crypto';
import type { ActivePlaylist, PlaylistItem } from '../../../src/client/entities.ts';
import type { PlayerState } from '../../../src/player/state.ts';
import {
  accepted,
  changesAnswers,
  changesBodies,
  changesEvents,
  changesHeader,
  changesRequests,
  codeOf,
  type Link,
  type LinkAnswer,
  type LinkRequest,
  linked,
  type Operation,
  problem,
  repeats,
  without,
} from './link.ts';
import type { Defects } from './seeded-defect.ts';

// biome-ignore lint/suspicious/noExplicitAny: a defect sends any event.
type AnyEvent = any;

/** The entries of a list of named values, as defects with a name that is made from theirs. */
function defectsOf<T>(
  values: Readonly<Record<string, T>>,
  nameOf: (name: string) => string,
  defectOf: (value: T) => Defects[string],
): Defects {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [nameOf(name), defectOf(value)]),
  );
}

const notModified: LinkAnswer = { status: 304, headers: {}, json: undefined };
const orphaned = () => problem(401, 'device_key_orphaned');
const gone = () => problem(404, 'playlist_not_found');
const unavailable = () => problem(503, 'unavailable');

/** What a TV may take an answer for. */
const readings = {
  'the loss of its key': orphaned,
  'the end of its playlist': gone,
  'an accepted batch': accepted,
  'no change': () => notModified,
  'a failure': unavailable,
} satisfies Record<string, (request: LinkRequest) => LinkAnswer>;

/** The answers that TVs misread: the operation, the status or code, and the readings. */
const misread: readonly [Operation, number | string, (keyof typeof readings)[], full?: true][] = [
  ['playlist', 500, ['the loss of its key', 'the end of its playlist']],
  ['playlist', 404, ['the loss of its key', 'no change']],
  ['playlist', 0, ['the loss of its key', 'the end of its playlist']],
  ['config', 'device_key_mismatch', ['the loss of its key']],
  ['config', 'device_key_missing', ['the loss of its key'], true],
  ['config', 403, ['the loss of its key']],
  ['config', 500, ['the loss of its key'], true],
  ['config', 0, ['the loss of its key']],
  ['events', 500, ['the loss of its key', 'an accepted batch']],
  ['events', 503, ['the loss of its key', 'an accepted batch']],
  ['events', 413, ['the loss of its key', 'an accepted batch', 'a failure']],
  ['events', 400, ['the loss of its key', 'an accepted batch', 'a failure']],
  ['events', 0, ['the loss of its key', 'an accepted batch']],
];

const misreadings: Defects = Object.fromEntries(
  misread.flatMap(([operation, met, takenFor, full]) =>
    takenFor.map((reading) => [
      `takes ${met || 'no answer'} to ${operation} for ${reading}`,
      {
        link: changesAnswers(
          (answer, request) =>
            answer.status === met || codeOf(answer) === met ? readings[reading](request) : answer,
          operation,
        ),
        ...(full && { needsFullExam: true as const }),
      },
    ]),
  ),
);

/** Sends no request of an operation any more after a status. */
const givesUp =
  (operation: Operation, status: number): Link =>
  (send) => {
    let last: LinkAnswer | undefined;
    return async (request) => {
      if (request.operation !== operation) return send(request);
      if (last) return last;
      const answer = await send(request);
      if (answer.status === status) last = answer;
      return answer;
    };
  };

/** Takes the first value for all later ones. */
function firstOf<T>(): (value: T) => T {
  let first: T | undefined;
  return (value) => {
    first ??= value;
    return first;
  };
}

const repeated: Defects = Object.fromEntries(
  (
    [
      ['playlist', 404],
      ['playlist', 500],
      ['config', 403],
      ['events', 0],
      ['playlist', 0],
      ['config', 0],
    ] as const
  ).map(([operation, status]) => [
    `repeats ${operation} every second after ${status || 'no answer'}`,
    {
      link: repeats((answer, request) =>
        request.operation === operation &&
        answer.status === status &&
        answer.headers['retry-after'] === undefined
          ? 1000
          : undefined,
      ),
    },
  ]),
);

const abandoned: Defects = Object.fromEntries(
  (
    [
      ['playlist', 404],
      ['playlist', 500],
      ['config', 403],
      ['playlist', 0],
      ['events', 500],
    ] as const
  ).map(([operation, status]) => [
    `sends no ${operation} any more after ${status || 'no answer'}`,
    { link: givesUp(operation, status) },
  ]),
);

const key = 'idempotency-key';
const rotating = { options: { rotateEveryMs: 180_000 } };

const headers: Defects = {
  ...Object.fromEntries(
    (['register', 'events', 'rotate'] as const).flatMap((operation) => {
      const style = operation === 'rotate' ? { style: rotating } : {};
      const link = (change: () => string | undefined) => changesHeader(key, change, operation);
      return [
        [`sends ${operation} without a key`, { ...style, link: link(() => undefined) }],
        [
          `sends ${operation} under a new key each time`,
          { ...style, link: link(() => randomUUID()) },
        ],
        [`sends ${operation} under one key always`, { ...style, link: link(() => 'k'.repeat(20)) }],
      ];
    }),
  ),
  'registers under a key of 8 characters': {
    link: changesHeader(key, (own) => own.slice(0, 8), 'register'),
  },
  ...defectsOf<Operation>(
    { playlist: 'playlist', config: 'config' },
    (name) => `sends a stale ETag of its ${name}`,
    (operation) => ({
      link: (send, tv) => {
        const first = firstOf<string>();
        return changesHeader('if-none-match', (own) => first(`${own}-old`), operation)(send, tv);
      },
    }),
  ),
  ...defectsOf<Operation>(
    { playlist: 'playlist', config: 'config', events: 'events', register: 'register' },
    (name) => `puts a secret into the URL of ${name}`,
    (operation) => ({
      link: changesRequests(
        (request) => ({
          ...request,
          url: `${request.url}?key=${
            operation === 'register'
              ? JSON.parse(request.body ?? '{}').pairingCode
              : request.headers.authorization?.replace('Bearer ', '')
          }`,
        }),
        operation,
      ),
    }),
  ),
  ...defectsOf<Operation>(
    { playlist: 'playlist', events: 'events', register: 'register' },
    (name) => `ignores the Retry-After of ${name}`,
    (operation) => ({
      link: changesAnswers(
        (answer) => ({ ...answer, headers: without(answer.headers, 'retry-after') }),
        operation,
      ),
    }),
  ),
  'halves each Retry-After': {
    link: changesAnswers((answer) => {
      const seconds = answer.headers['retry-after'];
      return seconds === undefined
        ? answer
        : { ...answer, headers: { ...answer.headers, 'retry-after': String(Number(seconds) / 2) } };
    }),
  },
  'leaves out X-Device-Time every second time': {
    uses: 'numbers',
    link: (send, tv) => {
      let count = 0;
      return changesHeader('x-device-time', (own) => (++count % 2 ? own : undefined))(send, tv);
    },
  },
};

const otherId = randomUUID();
const ofType = (type: string, change: (event: AnyEvent) => object): Link =>
  changesEvents((event) => (event.type === type ? change(event) : event));

/** Wrong members of impressions. */
const members: Defects = {
  ...Object.fromEntries(
    ['playlistId', 'creativeId', 'campaignId'].flatMap((member) => [
      [
        `leaves out the ${member} of impressions`,
        { link: ofType('impression', (event) => without(event, member)) },
      ],
      [
        `sends another ${member} in impressions`,
        { link: ofType('impression', (event) => ({ ...event, [member]: otherId })) },
      ],
    ]),
  ),
  ...defectsOf<(event: AnyEvent) => object>(
    {
      'timestamps as text': (event) => ({ ...event, timestamp: String(event.timestamp) }),
      'timestamps with a fraction': (event) => ({ ...event, timestamp: event.timestamp + 0.5 }),
      'timestamps as dates': (event) => ({
        ...event,
        timestamp: new Date(event.timestamp).toISOString(),
      }),
      'timestamps before 1970': (event) => ({ ...event, timestamp: -event.timestamp }),
      'durations in milliseconds': (event) => ({ ...event, duration: 1000 * event.duration }),
      'durations of 0 seconds': (event) => ({ ...event, duration: 0 }),
      'durations of 5 seconds': (event) => ({ ...event, duration: 5 }),
      'durations as text': (event) => ({ ...event, duration: String(event.duration) }),
      'the start of the item as timestamp': (event) => ({
        ...event,
        timestamp: event.timestamp - Math.round(event.duration),
      }),
      'the id of the item as playlistId': (event) => ({ ...event, playlistId: event.creativeId }),
      'the playlistId as creativeId': (event) => ({ ...event, creativeId: event.playlistId }),
    },
    (name) => `sends ${name} in impressions`,
    (change) => ({ link: ofType('impression', change) }),
  ),
  'sends impressions as plays': {
    link: ofType('impression', (event) => ({ ...event, type: 'play' })),
  },
  'sends types in capitals': {
    link: changesEvents((event) => ({ ...event, type: event.type.toUpperCase() })),
  },
  'sends heartbeats as pings': {
    link: ofType('heartbeat', (event) => ({ ...event, type: 'ping' })),
  },
  'stamps each heartbeat with the same time': {
    link: (send, tv) => {
      const first = firstOf<number>();
      const stamp = (event: AnyEvent) => ({ ...event, timestamp: first(event.timestamp) });
      return ofType('heartbeat', stamp)(send, tv);
    },
  },
};

const uses = 'numbers';

/** Wrong numbers of events. */
const numbers: Defects = defectsOf<(event: AnyEvent) => object>(
  {
    'from 0': (event) => ({ ...event, seq: event.seq - 1 }),
    'with 7 always': (event) => ({ ...event, seq: 7 }),
    'in steps of 2': (event) => ({ ...event, seq: 2 * event.seq }),
    'in steps of 10': (event) => ({ ...event, seq: 10 * event.seq }),
    'as text': (event) => ({ ...event, seq: String(event.seq) }),
    'with a fraction': (event) => ({ ...event, seq: event.seq + 0.5 }),
    'by its clock': (event) => ({ ...event, seq: event.timestamp }),
    'twice each': (event) => ({ ...event, seq: Math.ceil(event.seq / 2) }),
    'only if odd': (event) => (event.seq % 2 ? event : without(event, 'seq')),
  },
  (name) => `numbers its events ${name}`,
  (change) => ({ uses, link: changesEvents(change) }),
);

/** Changes the events of each batch. */
const changesBatches = (change: (events: AnyEvent[]) => AnyEvent[]): Link =>
  changesRequests((request) => {
    const events = change(JSON.parse(request.body ?? '[]'));
    return { ...request, body: JSON.stringify(events) };
  }, 'events');

const batches: Defects = {
  ...defectsOf<(events: AnyEvent[]) => AnyEvent[]>(
    {
      'the first event of each large batch': (events) => events.slice(Number(events.length > 4)),
      'the last event of each large batch': (events) =>
        events.length > 4 ? events.slice(0, -1) : events,
      'each event whose number ends in 5': (events) => {
        const kept = events.filter(({ seq }) => seq % 10 !== 5);
        return kept.length > 0 ? kept : events;
      },
      'half of each large batch': (events) =>
        events.length > 4 ? events.slice(0, events.length >> 1) : events,
    },
    (name) => `drops ${name}`,
    (change) => ({ uses, link: changesBatches(change) }),
  ),
  'sends the last impression of a batch again in the next one': {
    link: (send, tv) => {
      let last: AnyEvent;
      const added = new Map<string | undefined, AnyEvent>();
      return changesRequests((request) => {
        const events: AnyEvent[] = JSON.parse(request.body ?? '[]');
        const own = request.headers[key];
        if (!added.has(own)) added.set(own, last);
        const again = added.get(own);
        last = events.findLast(({ type }) => type === 'impression') ?? last;
        return { ...request, body: JSON.stringify(again ? [again, ...events] : events) };
      }, 'events')(send, tv);
    },
  },
  'sends each batch in another order when it repeats it': {
    link: (send, tv) => {
      const sent = new Set<string | undefined>();
      return changesRequests((request) => {
        const isAgain = sent.has(request.headers[key]);
        sent.add(request.headers[key]);
        const events: AnyEvent[] = JSON.parse(request.body ?? '[]');
        // The player first sends the event of its start alone.
        const changed = isAgain
          ? [...events.toReversed(), ...(events.length > 1 ? [] : events)]
          : events;
        return { ...request, body: JSON.stringify(changed) };
      }, 'events')(send, tv);
    },
  },
  'sends no impressions': {
    link: (send) => async (request) => {
      if (request.operation !== 'events') return send(request);
      const events: AnyEvent[] = JSON.parse(request.body ?? '[]');
      const others = events.filter(({ type }) => type !== 'impression');
      if (others.length === 0) return accepted(request);
      return send({ ...request, body: JSON.stringify(others) });
    },
  },
};

const changesItems = (change: (items: PlaylistItem[]) => PlaylistItem[]): Link =>
  changesBodies(({ items, entries, base, ...playlist }) => {
    const lists = Object.entries<PlaylistItem[]>(entries ?? {});
    return {
      ...playlist,
      items: change(items),
      ...(base && { base: change(base) }),
      ...(entries && {
        entries: Object.fromEntries(lists.map(([id, list]) => [id, change(list)])),
      }),
    };
  }, 'playlist');

const scaled = (factor: number) => (items: PlaylistItem[]) =>
  items.map((item) => ({ ...item, duration: factor * item.duration }));

const contents: Defects = {
  ...defectsOf<(items: PlaylistItem[]) => PlaylistItem[]>(
    {
      'the items from last to first': (items) => items.toReversed(),
      'only the first item': (items) => items.slice(0, 1),
      'each item twice': (items) => items.flatMap((item) => [item, item]),
      'the items for twice their time': scaled(2),
      'the items for half their time': scaled(0.5),
      'each item for 15 seconds': (items) => items.map((item) => ({ ...item, duration: 15 })),
      'all items but the first': (items) => (items.length > 1 ? items.slice(1) : items),
    },
    (name) => `plays ${name}`,
    (change) => ({ link: changesItems(change) }),
  ),
  ...defectsOf(
    { 'an hour late': 3600, '90 seconds late': 90, '90 seconds early': -90, 'in 50 years': 1.6e9 },
    (name) => `takes validUntil for a time ${name}`,
    (seconds) => ({
      link: changesBodies(
        ({ validUntil, ...playlist }) => ({ ...playlist, validUntil: validUntil + seconds }),
        'playlist',
      ),
    }),
  ),
  'keeps its first playlist': {
    link: (send, tv) => changesBodies(firstOf<ActivePlaylist>(), 'playlist')(send, tv),
  },
};

/** Changes the config of the registration and of each answer. */
const changesConfig = (change: (config: Record<string, number>) => object): Link =>
  linked(
    changesBodies(change, 'config'),
    changesBodies(
      ({ config, ...registered }) => ({ ...registered, config: change(config) }),
      'register',
    ),
  );

const intervals: Defects = {
  ...Object.fromEntries(
    [2, 3, 4].map((factor) => [
      `polls at ${factor} times its sync interval`,
      {
        link: changesConfig((config) => ({
          ...config,
          syncIntervalMinutes: factor * (config.syncIntervalMinutes ?? 1),
        })),
      },
    ]),
  ),
  ...Object.fromEntries(
    [2, 3, 4].map((factor) => [
      `sends heartbeats at ${factor} times their interval`,
      {
        link: changesConfig((config) => ({
          ...config,
          heartbeatIntervalMinutes: factor * (config.heartbeatIntervalMinutes ?? 1),
        })),
      },
    ]),
  ),
  'polls every 5 minutes always': {
    link: changesConfig((config) => ({ ...config, syncIntervalMinutes: 5 })),
  },
  'polls every 2 minutes always': {
    link: changesConfig((config) => ({ ...config, syncIntervalMinutes: 2 })),
  },
  ...Object.fromEntries(
    (
      [
        ['config', 1],
        ['config', 2],
        ['playlist', 2],
        ['playlist', 3],
      ] as const
    ).map(([operation, times]) => [
      `fetches its ${operation} ${times} times, and never again`,
      {
        link: (send) => {
          let count = 0;
          return async (request) =>
            request.operation === operation && ++count > times ? notModified : send(request);
        },
      } satisfies Defects[string],
    ]),
  ),
};

/** What a TV forgets in a power cut. */
const forgotten: Defects = defectsOf<(state: PlayerState) => PlayerState>(
  {
    'its batch': ({ batch: _, ...kept }) => kept,
    'its queue and batch': ({ batch: _, ...kept }) => ({ ...kept, queue: [] }),
    'its playlist': ({ playlist: _, ...kept }) => kept,
    'the key of its batch': (state) =>
      state.batch ? { ...state, batch: { ...state.batch, idempotencyKey: randomUUID() } } : state,
  },
  (name) => `forgets ${name} in a power cut`,
  (afterPowerCut) => ({ style: { afterPowerCut } }),
);

/** Generated defects. Each name completes the sentence "A TV that …". */
export const generatedDefects: Defects = {
  ...misreadings,
  ...repeated,
  ...abandoned,
  ...headers,
  ...members,
  ...numbers,
  ...batches,
  ...contents,
  ...intervals,
  ...forgotten,
};
