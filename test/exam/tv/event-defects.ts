import { randomUUID } from 'node:crypto';
import {
  accepted,
  changesAnswers,
  changesEvents,
  changesHeader,
  type Link,
  type LinkRequest,
  linked,
  problem,
} from './link.ts';
import type { Defects } from './seeded-defect.ts';
import { unseenOffline } from './unseen-offline.ts';

const key = 'idempotency-key';
const otherPlaylistId = randomUUID();

/** Takes a failed batch for an accepted one. */
const dropsAfter = (status: number): Link =>
  changesAnswers(
    (answer, request) => (answer.status === status ? accepted(request) : answer),
    'events',
  );

/** Replaces each key by the number of its batch since the start of the TV. */
const countedKeys: Link = (send, tv) => {
  const keys = new Map<string, string>();
  let starts = 0;
  let count = 0;
  return changesHeader(
    key,
    (value) => {
      if (tv.starts !== starts) count = 0;
      starts = tv.starts;
      if (!keys.has(value)) keys.set(value, `the batch ${++count} of TV`.replaceAll(' ', '-'));
      return keys.get(value);
    },
    'events',
  )(send, tv);
};

/** Changes each retry of a batch. `tries` counts the answers before, none of which was a 202. */
const changesRetries =
  (change: (request: LinkRequest, tries: number) => LinkRequest): Link =>
  (send) => {
    const failures = new Map<string | undefined, number>();
    return async (request) => {
      if (request.operation !== 'events') return send(request);
      const own = request.headers[key];
      const tries = failures.get(own) ?? 0;
      const answer = await send(tries === 0 ? request : change(request, tries));
      failures.set(own, tries + 1);
      return answer;
    };
  };

/** Sends the first event of a batch once more with each retry. */
const growingBatches = changesRetries((request, tries) => {
  const events = JSON.parse(request.body ?? '[]');
  return { ...request, body: JSON.stringify([...events, ...Array(tries).fill(events[0])]) };
});

const newKeys = changesRetries((request, tries) => ({
  ...request,
  headers: { ...request.headers, [key]: `${request.headers[key]}-${tries}` },
}));

/** Sends the next batch after a 413 under the key of the batch that was too large. */
const keyOfWhole: Link = (send) => {
  const keys = new Map<string | undefined, string>();
  let whole: string | undefined;
  return async (request) => {
    const { headers, operation } = request;
    if (operation !== 'events') return send(request);
    const own = headers[key] ?? '';
    if (whole !== undefined && !keys.has(own)) {
      keys.set(own, whole);
      whole = undefined;
    }
    const answer = await send({ ...request, headers: { ...headers, [key]: keys.get(own) ?? own } });
    if (answer.status === 413) whole = own;
    return answer;
  };
};

/** Takes every other 202 for a refusal of the key. The player then sends the batch again. */
const sendsTwice: Link = (send) => {
  let isSecond = true;
  return async (request) => {
    const answer = await send(request);
    if (request.operation !== 'events' || answer.status !== 202) return answer;
    isSecond = !isSecond;
    return isSecond ? answer : problem(503, 'idempotency_key_reused');
  };
};

/** Names all events of a refused batch. */
const namesAll: Link = changesAnswers((answer, { body }) => {
  if (answer.status !== 400) return answer;
  const errors = JSON.parse(body ?? '[]').map((_: unknown, index: number) => ({
    path: `/${index}`,
    message: 'is refused',
  }));
  return problem(400, 'invalid_request', { errors });
}, 'events');

/** Defects of events and their batches (docs/protocol.md §2.5). */
export const eventDefects: Defects = {
  'sends no events': {
    link: (send) => async (request) =>
      request.operation === 'events' ? accepted(request) : send(request),
  },
  'sends no Idempotency-Key': { link: changesHeader(key, () => undefined, 'events') },
  'sends each retry under a new key': { link: newKeys },
  'adds an event to each retry': { link: growingBatches },
  'counts its Idempotency-Keys from 1 after a power cut': { link: countedKeys },
  'drops the batch after a 500': { link: dropsAfter(500) },
  'drops the batch after a 503': { link: dropsAfter(503) },
  'drops the batch without an answer': { link: dropsAfter(0) },
  'creates no events without a network': {
    style: { makeStage: unseenOffline },
    needsFullExam: true,
  },
  'drops the good events of a batch with a bad one': { link: namesAll },
  'sends a refused batch again': {
    link: changesAnswers(
      (answer) => (answer.status === 400 ? problem(503, 'unavailable') : answer),
      'events',
    ),
  },
  'gives up after a 413': { link: dropsAfter(413) },
  'sends the same batch after a 413': {
    // The player then sends the batch under a new key.
    link: changesAnswers(
      (answer) => (answer.status === 413 ? problem(503, 'idempotency_key_reused') : answer),
      'events',
    ),
  },
  'sends a part under the key of the whole batch': { link: keyOfWhole },
  'sends an accepted batch again': { link: sendsTwice },
  'sends the timestamps of heartbeats as text': {
    link: changesEvents((event) =>
      event.type === 'heartbeat' ? { ...event, timestamp: String(event.timestamp) } : event,
    ),
  },
  'names another playlist in its impressions': {
    link: changesEvents((event) =>
      event.playlistId ? { ...event, playlistId: otherPlaylistId } : event,
    ),
  },
  'forgets its events in a power cut': {
    style: { afterPowerCut: ({ batch: _, ...kept }) => ({ ...kept, queue: [] }) },
  },
};

/** Numbers the impressions 1, 2, 3 …, and no other events. */
const numbersImpressions: Link = (send, tv) => {
  const numbers = new Map<number, number>();
  return linked(
    changesAnswers((answer) => {
      if (answer.status === 201) numbers.clear();
      return answer;
    }, 'register'),
    changesEvents(({ seq, ...event }) => {
      if (event.type !== 'impression') return event;
      if (!numbers.has(seq)) numbers.set(seq, numbers.size + 1);
      return { ...event, seq: numbers.get(seq) };
    }),
  )(send, tv);
};

/** Numbers the events after a refused one anew, so that no number is missing. */
const closesGaps: Link = (send, tv) => {
  let dropped: number[] = [];
  return linked(
    changesAnswers((answer) => {
      if (answer.status === 201) dropped = [];
      return answer;
    }, 'register'),
    changesAnswers((answer, { body }) => {
      if (answer.status !== 400) return answer;
      const events: { seq: number }[] = JSON.parse(body ?? '[]');
      const named: { path: string }[] = answer.json.errors ?? [];
      for (const { path } of named) dropped.push(events[Number(path.split('/')[1])]?.seq ?? 0);
      return answer;
    }, 'events'),
    changesEvents(({ seq, ...event }) => ({
      ...event,
      seq: seq - dropped.filter((one) => one < seq).length,
    })),
  )(send, tv);
};

/** Numbers the events of each attempt from where the last attempt ended. */
const numbersAttempts: Link = (send, tv) => {
  let last = 0;
  return linked(
    changesAnswers((answer) => {
      if (answer.status === 201) last = 0;
      return answer;
    }, 'register'),
    changesEvents((event) => ({ ...event, seq: ++last })),
  )(send, tv);
};

const deviceTime = (change: Parameters<typeof changesHeader>[1]) =>
  changesHeader('x-device-time', change);
const uses = 'numbers';

/** Defects of the optional `seq` and `X-Device-Time` (docs/protocol.md §2.5). */
export const numberingDefects: Defects = {
  'numbers only its impressions': { uses, link: numbersImpressions },
  'sends its numbers as text': {
    uses,
    link: changesEvents((event) => ({ ...event, seq: String(event.seq) })),
  },
  'leaves out each fifth number': {
    uses,
    link: changesEvents((event) => ({
      ...event,
      seq: event.seq + Math.floor((event.seq - 1) / 4),
    })),
  },
  'leaves out a number after a power cut': {
    uses,
    style: { afterPowerCut: (state) => ({ ...state, nextSeq: (state.nextSeq ?? 1) + 1 }) },
  },
  'numbers its events from 1 after a power cut': {
    uses,
    style: { afterPowerCut: (state) => ({ ...state, nextSeq: 1 }) },
  },
  'numbers the rest of a refused batch anew': { uses, link: closesGaps },
  'numbers its events when it sends them': { uses, link: numbersAttempts },
  'sends X-Device-Time in seconds': {
    uses,
    link: deviceTime((ms) => String(Math.floor(Number(ms) / 1000))),
  },
  'sends X-Device-Time as a date': {
    uses,
    link: deviceTime((ms) => new Date(Number(ms)).toISOString()),
  },
  'stores X-Device-Time with the batch': {
    uses,
    link: deviceTime((_, { body }) => {
      const { timestamp } = JSON.parse(body ?? '[]').at(-1);
      return String(1000 * timestamp);
    }),
  },
};
