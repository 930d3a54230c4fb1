import { hourMs } from '../../domain/clock.ts';
import { dayNumber, secondsOf } from '../../domain/events/plays.ts';
import {
  addNumber,
  emptySequence,
  type NumberRange,
  type SequenceState,
  summaryOf,
  withNumbers,
} from '../../domain/events/sequence.ts';
import { epochMs } from '../../domain/fields.ts';
import type { StoredEvent } from '../../store/queries.ts';

/** A play that is received later is late. */
const lateMs = 24 * hourMs;
/** How far a TV's clock may be ahead. Plays that are dated later have no day. */
const aheadMs = hourMs;

/** A play as coverage counts it. */
export interface CountedPlay {
  /** Of the venue or of UTC: the day of the play, or of its receipt if it is not placed. */
  day: number;
  isPlaced: boolean;
  isLate: boolean;
  /** The end of the play, in epoch milliseconds. */
  endMs: number;
  ms: number;
  creativeId: string;
  campaignId: string;
}

/** The numbered events of one device. */
interface Numbers {
  state: SequenceState;
  /** The last number that the period has received. 0: none. */
  lastSeq: number;
}

/** Returns the numbers up to one that have not arrived, or `null` if nobody knows. */
function lostOf({ state, lastSeq }: Numbers): number | null {
  // Gaps beyond those that a device keeps are counted, but not by their numbers.
  if (state.missing > 0) return null;
  const ranges = state.ranges
    .filter(([first]) => first <= lastSeq)
    .map(([first, last]): NumberRange => [first, Math.min(last, lastSeq)]);
  return summaryOf({ ...state, ranges }).missingEvents;
}

/** Reads events in the order of their receipt: each number of a device counts once. */
export class PlayedEvents {
  readonly #devices = new Map<string, { screenId: string; numbers: Numbers }>();
  readonly #days: 'utc' | 'venue';
  readonly #fromMs: number;
  readonly #registeredAt: (deviceId: string) => Promise<number>;

  /**
   * @param fromMs time from which all events are read
   * @param registeredAt returns the time of a registration; 0: not known
   */
  constructor(
    days: 'utc' | 'venue',
    fromMs: number,
    registeredAt: (deviceId: string) => Promise<number>,
  ) {
    this.#days = days;
    this.#fromMs = fromMs;
    this.#registeredAt = registeredAt;
  }

  dayAt(timeMs: number, { utcOffset = 0 }: StoredEvent): number {
    return dayNumber(Math.max(0, timeMs), this.#days === 'venue' ? utcOffset : 0);
  }

  /**
   * Returns the play, or `undefined` for another event and for one that has come before.
   *
   * @param isOfPeriod whether the period counts events that are received now
   */
  async read(stored: StoredEvent, isOfPeriod: boolean): Promise<CountedPlay | undefined> {
    if (await this.#hasCome(stored, isOfPeriod)) return undefined;
    const { deviceId, receivedAt } = stored;
    const event = stored.event as Record<string, unknown> & { timestamp: number };
    const { type, creativeId, campaignId } = event;
    if (type !== 'impression' && type !== 'play') return undefined;
    const seconds = secondsOf(event as Parameters<typeof secondsOf>[0]);
    const timeMs = epochMs(event.timestamp);
    const registeredAt = await this.#registeredAt(deviceId);
    // A clock that ran ahead may have dated the registration.
    const isSince = timeMs >= registeredAt || registeredAt > receivedAt;
    const isPlaced = timeMs <= receivedAt + aheadMs && isSince;
    return {
      day: this.dayAt(isPlaced ? timeMs : receivedAt, stored),
      isPlaced,
      isLate: receivedAt - timeMs > lateMs,
      endMs: timeMs,
      ms: Math.round(seconds * 1000),
      creativeId: typeof creativeId === 'string' ? creativeId.toLowerCase() : '',
      campaignId: type === 'impression' ? String(campaignId).toLowerCase() : '',
    };
  }

  /** Returns the lost events of each screen that has numbered ones. `null`: too many gaps. */
  lost(): Map<string, number | null> {
    const found = new Map<string, number | null>();
    for (const { screenId, numbers } of this.#devices.values()) {
      if (numbers.lastSeq === 0) continue;
      const lost = lostOf(numbers);
      const before = found.get(screenId) ?? 0;
      const isKnown = lost !== null && found.get(screenId) !== null;
      found.set(screenId, isKnown ? before + lost : null);
    }
    return found;
  }

  async #hasCome(
    { deviceId, screenId, event }: StoredEvent,
    isOfPeriod: boolean,
  ): Promise<boolean> {
    const numbers: NumberRange[] = [];
    addNumber(numbers, event.seq);
    const [[seq] = [0]] = numbers;
    if (seq === 0) return false;
    const known = this.#devices.get(deviceId);
    const state = known?.numbers.state ?? (await this.#firstState(deviceId, seq));
    const next = withNumbers(state, numbers);
    const lastSeq = known?.numbers.lastSeq ?? 0;
    this.#devices.set(deviceId, {
      screenId,
      numbers: { state: next, lastSeq: isOfPeriod ? Math.max(lastSeq, seq) : lastSeq },
    });
    return next.conflicts > state.conflicts;
  }

  /** What has come before the first event that is read is not known. */
  async #firstState(deviceId: string, seq: number): Promise<SequenceState> {
    const hasAll = (await this.#registeredAt(deviceId)) >= this.#fromMs;
    return { ...emptySequence, floor: hasAll ? 0 : seq - 1 };
  }
}
