import type { TvExchange } from '../wire/exchange.ts';
import { refusedIndex } from '../wire/exchange.ts';
import { fail, notMet, pass, skip, type TvCheck, type Verdict } from './check.ts';
import { digestsOf, type ExamView, shown } from './exam-view.ts';

const inEvents = { level: 'must', section: '2.5', part: 'events' } as const;

const digestsText = (batch: TvExchange) => digestsOf(batch).join();

/** Says how the bytes of two batches differ. */
const otherBytes = (one: TvExchange, other: TvExchange): string =>
  digestsText(one) === digestsText(other) ? 'the same events under another seq' : 'other bytes';

/** Judges whether the TV sends the same batch again after a fault. */
function sameBatchAfter(view: ExamView, fault: string): Verdict {
  const faulted = view.faulted(fault);
  if (faulted.length === 0) return notMet(view, fault, 'batch of events');
  for (const first of faulted) {
    const next = view.nextOf(first);
    if (!next) return fail(`${shown(first)}; the TV sent no batch after it.`);
    const changed = [
      ...(next.idempotencyKey === first.idempotencyKey ? [] : ['another Idempotency-Key']),
      ...(next.bodyDigest === first.bodyDigest ? [] : [otherBytes(first, next)]),
      ...(first.idempotencyKey === undefined ? ['no Idempotency-Key'] : []),
    ];
    if (changed.length > 0)
      return fail(`${shown(first)}; ${shown(next)}, with ${changed.join(' and ')}.`);
  }
  return pass(`${faulted.length} times the same bytes under the same key.`);
}

/** Returns the batches after an exchange. */
const later = (view: ExamView, { number }: TvExchange) =>
  view.of('postEvents').filter((one) => one.number > number);

/** Returns the later batches that contain an event of a batch. */
function sharing(view: ExamView, batch: TvExchange): TvExchange[] {
  const digests = new Set(digestsOf(batch));
  return later(view, batch).filter(({ events }) =>
    events.some(({ digest }) => digests.has(digest)),
  );
}

/** Returns the event that the injected 400 names. */
const namedEvent = (refused: TvExchange | undefined) => refused?.events[refusedIndex(refused)];

/** Event types for which two equal events are always a duplicate. */
const distinctTypes = ['impression', 'heartbeat'];

const idleAdvice = 'Send at least a heartbeat event in each heartbeat interval.';
const sameBatchAdvice =
  'Keep the batch with its Idempotency-Key until it gets a 202, and send the same bytes again.';

export const eventChecks: readonly TvCheck[] = [
  {
    ...inEvents,
    id: 'tv.events.sends',
    title: 'The TV sends events',
    expected: 'a batch of events after the registration',
    advice: idleAdvice,
    judge(view) {
      const batches = view.of('postEvents');
      return batches.length > 0
        ? pass(`${batches.length} batches.`)
        : fail('The TV sent no batch of events.');
    },
  },
  {
    ...inEvents,
    id: 'tv.events.idempotency-key',
    title: 'Each batch has an Idempotency-Key',
    expected: 'an Idempotency-Key on each batch',
    advice: 'Make a random key, such as a UUID, for each batch.',
    judge(view) {
      const batches = view.of('postEvents');
      const bare = batches.find(({ idempotencyKey }) => idempotencyKey === undefined);
      if (batches.length === 0) return skip('The TV sent no batch of events.');
      return bare
        ? fail(`${shown(bare)}, without the header.`)
        : pass(`${batches.length} batches.`);
    },
  },
  {
    ...inEvents,
    id: 'tv.events.new-batch-new-key',
    title: 'A new batch has a new Idempotency-Key',
    expected: 'the same bytes each time that an Idempotency-Key is sent',
    advice: 'Make a new key for each batch. Repeat a key only with the same bytes.',
    judge(view) {
      const bodies = new Map<string, TvExchange>();
      for (const batch of view.of('postEvents')) {
        if (batch.idempotencyKey === undefined) continue;
        const first = bodies.get(batch.idempotencyKey);
        if (first && first.bodyDigest !== batch.bodyDigest)
          return fail(`${shown(first)}; ${shown(batch)}, with the same key and other bytes.`);
        bodies.set(batch.idempotencyKey, first ?? batch);
      }
      return bodies.size > 1 ? pass(`${bodies.size} keys.`) : skip('The TV used one key at most.');
    },
  },
  {
    ...inEvents,
    id: 'tv.events.same-bytes-same-key',
    title: 'The TV resends an unanswered batch unchanged',
    expected: 'the same bytes under the same Idempotency-Key',
    advice: sameBatchAdvice,
    judge: (view) => sameBatchAfter(view, 'events.lost'),
  },
  {
    ...inEvents,
    id: 'tv.events.same-batch-after-500',
    section: '2.6',
    title: 'The TV resends a batch unchanged after status 500',
    expected: 'the same bytes under the same Idempotency-Key',
    advice: sameBatchAdvice,
    judge: (view) => sameBatchAfter(view, 'events.500'),
  },
  {
    ...inEvents,
    id: 'tv.events.same-batch-after-503',
    section: '2.6',
    title: 'The TV resends a batch unchanged after status 503',
    expected: 'the same bytes under the same Idempotency-Key',
    advice: sameBatchAdvice,
    judge: (view) => sameBatchAfter(view, 'events.503'),
  },
  {
    ...inEvents,
    id: 'tv.events.400-drops-named',
    title: 'The TV drops or repairs an event that a 400 names',
    expected: 'later batches without the unchanged event',
    advice: 'Take the index of each invalid event from errors[].path. Drop or repair these events.',
    judge(view) {
      const [refused] = view.faulted('events.400');
      if (!refused) return notMet(view, 'events.400', 'batch of events');
      const named = namedEvent(refused);
      const next = later(view, refused).filter(isServed);
      const again = later(view, refused).find(({ events }) =>
        events.some(({ digest }) => digest === named?.digest),
      );
      if (!again && next.length === 0) return skip('The TV sent no batch after the 400.');
      return again
        ? fail(
            `${shown(refused)} names event ${refusedIndex(refused)}; ${shown(again)} has it again.`,
          )
        : pass(`The named event did not come again in ${next.length} batches.`);
    },
  },
  {
    ...inEvents,
    id: 'tv.events.400-sends-rest',
    title: 'The TV sends the other events of a batch refused with 400',
    expected: 'later batches with the events that the 400 does not name',
    advice: 'Send the valid events again under a new Idempotency-Key.',
    judge(view) {
      const [refused] = view.faulted('events.400');
      if (!refused) return notMet(view, 'events.400', 'batch of events');
      const at = refusedIndex(refused);
      return missingAfter(
        view,
        refused,
        refused.events.filter((_, index) => index !== at),
      );
    },
  },
  {
    ...inEvents,
    id: 'tv.events.413-smaller',
    section: '2.6',
    title: 'The TV splits a batch after 413',
    expected: 'batches with fewer events after 413',
    advice: 'Split the batch, for example in halves.',
    judge(view) {
      const [large] = view.faulted('events.413');
      if (!large) return notMet(view, 'events.413', 'batch of several events');
      const [next] = sharing(view, large);
      if (!next) return skip('The events of the batch did not come again.');
      const sizes = `${large.events.length} events, then ${next.events.length}`;
      return next.events.length < large.events.length
        ? pass(`${sizes}.`)
        : fail(`${shown(large)}; ${shown(next)}: ${sizes}.`);
    },
  },
  {
    ...inEvents,
    id: 'tv.events.413-sends-all',
    section: '2.6',
    title: 'The TV sends all events of a split batch',
    expected: 'each event of the batch in a later batch',
    advice: 'Keep the events of each part until the part gets a 202.',
    judge(view) {
      const [large] = view.faulted('events.413');
      if (!large) return notMet(view, 'events.413', 'batch of several events');
      // Other checks judge a part that was then refused with 400.
      const refused = new Set(view.faulted('events.400').flatMap(digestsOf));
      return missingAfter(
        view,
        large,
        large.events.filter(({ digest }) => !refused.has(digest)),
      );
    },
  },
  {
    ...inEvents,
    id: 'tv.events.413-own-keys',
    section: '2.6',
    title: 'Each part of a split batch has its own Idempotency-Key',
    expected: 'a different Idempotency-Key for each part',
    advice: 'Make a new Idempotency-Key for each part.',
    judge(view) {
      const [large] = view.faulted('events.413');
      if (!large) return notMet(view, 'events.413', 'batch of several events');
      const parts = sharing(view, large).filter(
        ({ bodyDigest }) => bodyDigest !== large.bodyDigest,
      );
      if (parts.some(({ idempotencyKey }) => idempotencyKey === undefined))
        return skip('The parts have no Idempotency-Key.');
      const keys = new Set([large.idempotencyKey]);
      const bodies = new Set<string>();
      for (const part of parts) {
        if (bodies.has(part.bodyDigest)) continue;
        if (keys.has(part.idempotencyKey))
          return fail(`${shown(large)}; ${shown(part)}, with a key that was used before.`);
        keys.add(part.idempotencyKey);
        bodies.add(part.bodyDigest);
      }
      return parts.length > 0
        ? pass(`${keys.size} keys.`)
        : skip('The events of the batch did not come again in parts.');
    },
  },
  {
    ...inEvents,
    id: 'tv.events.no-duplicates',
    title: 'The service accepts each event of the TV only once',
    expected: 'each event in only one accepted batch',
    advice: 'Never put an event into a new batch before the service has refused the old batch.',
    judge(view) {
      const keys = new Map<string, TvExchange>();
      // Includes batches whose 202 was lost, because the service accepted them, too.
      const accepted = view.of('postEvents').filter(({ answer }) => answer?.status === 202);
      for (const batch of accepted) {
        // Two events of other types, such as `log`, may be equal.
        const distinct = batch.events.filter(({ type }) => distinctTypes.includes(type));
        for (const { digest, type } of distinct) {
          const first = keys.get(digest);
          // A TV that restarts in the second of its last heartbeat may send an equal heartbeat.
          if (type === 'heartbeat' && first?.fault === 'power.lost') continue;
          const isRepeat =
            first?.idempotencyKey !== undefined && first.idempotencyKey === batch.idempotencyKey;
          if (first && first !== batch && !isRepeat)
            return fail(`${shown(first)}; ${shown(batch)}, with an equal event.`);
          keys.set(digest, first ?? batch);
        }
      }
      return keys.size > 0
        ? pass(`${keys.size} impressions and heartbeats, each once.`)
        : skip('The TV sent no impressions and no heartbeats.');
    },
  },
];

/**
 * Returns whether the service itself answered. A rejected batch counts, because the TV has sent its
 * events again.
 */
const isServed = ({ end, fault }: TvExchange) => end === 'answered' && fault === undefined;

/** Fails if an expected event is missing from the batches after an exchange. */
function missingAfter(
  view: ExamView,
  refused: TvExchange,
  expected: TvExchange['events'],
): Verdict {
  if (expected.length === 0) return skip('The batch had no other event.');
  const isRepaired = view.registrations.some(
    ({ atMs }) => atMs > refused.endMs && atMs < view.revokedMs,
  );
  if (isRepaired) return skip('The TV then lost its key, and with it its events.');
  const sent = new Set(
    later(view, refused)
      .filter(isServed)
      .flatMap(({ events }) => events.map(({ digest }) => digest)),
  );
  const missing = expected.filter(({ digest }) => !sent.has(digest));
  return missing.length === 0
    ? pass(`All ${expected.length} events came again.`)
    : fail(`${shown(refused)}; ${missing.length} of ${expected.length} events did not come again.`);
}
