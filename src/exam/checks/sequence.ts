import type { SentEvent, TvExchange } from '../wire/exchange.ts';
import { refusedIndex } from '../wire/exchange.ts';
import { fail, notApplicable, pass, skip, type TvCheck } from './check.ts';
import { type ExamView, shown } from './exam-view.ts';

const inSequence = { level: 'should', section: '2.5', part: 'events' } as const;
const notNumbered = notApplicable('The TV does not number its events.');

const numberAdvice =
  'Number the events of a device 1, 2, 3 … from its registration on. Store the next number with the queue.';

/** An event, and the first batch that contains it. */
interface NumberedEvent {
  batch: TvExchange;
  event: SentEvent;
}

/**
 * Returns the events of each device, identified by its pairing code. An event that was sent in
 * several batches occurs once.
 */
function eventsByDevice(view: ExamView): NumberedEvent[][] {
  const devices = new Map<string | undefined, Map<string, NumberedEvent>>();
  let code: string | undefined;
  for (const exchange of view.exchanges) {
    if (exchange.answer?.status === 201) code = exchange.pairingCode ?? code;
    const sent = devices.get(code) ?? new Map<string, NumberedEvent>();
    devices.set(code, sent);
    for (const event of exchange.events) {
      const key = `${event.digest} ${event.seq}`;
      if (!sent.has(key)) sent.set(key, { batch: exchange, event });
    }
  }
  return [...devices.values()].map((sent) => [...sent.values()]);
}

const isNumbered = ({ event }: NumberedEvent) => typeof event.seq === 'number';

/** Returns the devices that number at least one event. */
const numberedDevices = (view: ExamView) =>
  eventsByDevice(view).filter((events) => events.some(isNumbered));

/** Returns the lowest missing number below the highest number of a device's events. */
function firstGap(events: readonly NumberedEvent[]): number | undefined {
  const numbers = new Set(events.flatMap(({ event }) => event.seq ?? []));
  // Without a gap, the numbers are exactly 1 to the size of the set.
  return Array.from(numbers, (_, index) => index + 1).find((one) => !numbers.has(one));
}

const countOf = (devices: readonly NumberedEvent[][]) => `${devices.flat().length} events.`;

/** Types of which a TV never creates two equal events, unless it starts within a second. */
const distinctTypes = ['impression', 'heartbeat'];

/**
 * Returns an event that a TV sent under two numbers, in a batch that was not accepted and in a
 * later one.
 */
function renumbered(events: readonly NumberedEvent[]): [NumberedEvent, NumberedEvent] | undefined {
  const firsts = new Map<string, NumberedEvent>();
  for (const one of events.filter(isNumbered)) {
    const first = firsts.get(one.event.digest);
    if (!first) firsts.set(one.event.digest, one);
    else if (distinctTypes.includes(one.event.type) && first.batch.fault?.startsWith('events.'))
      return [first, one];
  }
  return undefined;
}

/** Whether the TV has sent a numbered event in two batches. */
function hasRepeated(view: ExamView): boolean {
  const numbers = new Set<string>();
  const batches = new Set<string>();
  return view.of('postEvents').some((batch) => {
    const isNew = !batches.has(batch.bodyDigest);
    batches.add(batch.bodyDigest);
    const seqs = batch.events.filter(({ seq }) => typeof seq === 'number');
    const isAgain = seqs.some(({ digest }) => numbers.has(digest));
    for (const { digest } of seqs) numbers.add(digest);
    return isAgain && isNew;
  });
}

/** The checks of `seq`. `seq` is optional, so a TV that never sends it is not judged. */
export const sequenceChecks: readonly TvCheck[] = [
  {
    ...inSequence,
    id: 'tv.seq.each-event',
    title: 'If any event has a seq, each event has a seq',
    expected: 'a whole number of 1 or more as seq of each event',
    advice: `${numberAdvice} Number heartbeats and errors, too.`,
    judge(view) {
      const events = eventsByDevice(view).flat();
      if (events.every(({ event }) => event.seq === undefined)) return notNumbered;
      const bare = events.find((one) => !isNumbered(one));
      return bare
        ? fail(`${shown(bare.batch)}, with an event of type "${bare.event.type}" without seq.`)
        : pass(`${events.length} events.`);
    },
  },
  {
    ...inSequence,
    id: 'tv.seq.no-gap',
    title: 'The seq numbers of events have no gap',
    expected: 'the numbers 1, 2, 3 … since each registration',
    advice: `${numberAdvice} A gap tells the service that an event was lost.`,
    judge(view) {
      const devices = numberedDevices(view);
      if (devices.length === 0) return notNumbered;
      const gap = devices.map(firstGap).find((one) => one !== undefined);
      return gap === undefined
        ? pass(countOf(devices))
        : fail(`The TV sent no event with the seq ${gap}, but later ones.`);
    },
  },
  {
    ...inSequence,
    id: 'tv.seq.unique',
    title: 'No two events have the same seq',
    expected: 'a different number for each event, also after a power cut',
    advice: numberAdvice,
    judge(view) {
      const devices = numberedDevices(view);
      if (devices.length === 0) return notNumbered;
      // The TV may repair the event that the 400 names. The repaired event keeps its number.
      const [refused] = view.faulted('events.400');
      const named = refused?.events[refusedIndex(refused)];
      for (const events of devices) {
        const batches = new Map<unknown, TvExchange>();
        // Another check judges an event that was sent under several numbers. Its last one counts.
        const last = new Map(events.map((one) => [one.event.digest, one]));
        for (const { batch, event } of [...last.values()].filter(isNumbered)) {
          if (event.digest === named?.digest) continue;
          const first = batches.get(event.seq);
          if (first)
            return fail(
              `${shown(first)}; ${shown(batch)}, with another event of seq ${event.seq}.`,
            );
          batches.set(event.seq, batch);
        }
      }
      return pass(countOf(devices));
    },
  },
  {
    ...inSequence,
    id: 'tv.seq.kept',
    title: 'An event keeps its seq when it is sent again',
    expected: 'the same seq in the batch that failed and in the later batches',
    advice: `${numberAdvice} Do not number the events of a batch when you send it.`,
    judge(view) {
      const devices = numberedDevices(view);
      if (devices.length === 0) return notNumbered;
      const pair = devices.map(renumbered).find((one) => one !== undefined);
      if (pair) {
        const [first, again] = pair;
        return fail(
          `The TV renumbered an event: ${shown(first.batch)}, with seq ${first.event.seq}; ${shown(again.batch)}, with seq ${again.event.seq}.`,
        );
      }
      return hasRepeated(view)
        ? pass(countOf(devices))
        : skip('The TV sent no event again in another batch.');
    },
  },
];
