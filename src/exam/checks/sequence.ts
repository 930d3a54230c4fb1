import type { SentEvent, TvExchange } from '../wire/exchange.ts';
import { refusedIndex } from '../wire/exchange.ts';
import { fail, pass, skip, type TvCheck } from './check.ts';
import { type ExamView, shown } from './exam-view.ts';

const inSequence = { level: 'should', section: '2.5', part: 'events' } as const;
const notNumbered = skip('The TV does not number its events.');

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
    for (const event of exchange.events)
      if (!sent.has(event.digest)) sent.set(event.digest, { batch: exchange, event });
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
        for (const { batch, event } of events.filter(isNumbered)) {
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
];
