import { largest } from '../../domain/numbers/extremes.ts';
import { itemSeconds } from '../parts/exam-service.ts';
import type { Timing } from '../parts/options.ts';
import type { SentEvent, TvExchange } from '../wire/exchange.ts';

/** An impression, with times by the TV's clock. */
interface Played {
  fromSeconds: number;
  toSeconds: number;
}

/** Arrival time of a batch, and the offset of the TV's clock at that time, in seconds. */
interface Anchor {
  seconds: number;
  offset: number;
}

/**
 * Maximum distance between a moment and the batches whose clock offset is used, in seconds of TV
 * time. Without such a batch, the nearest one is used.
 */
const anchorRangeSeconds = 400;
/** Upper limit for durations that the TV reports, in seconds. */
const maxDuration = 2 * itemSeconds;

/**
 * The playing time that the TV reports. The TV's clock may be wrong. The newest event of each batch
 * shows the TV's time when the batch was sent.
 */
export class TvPlayback {
  readonly #timing: Timing;
  readonly #anchors: readonly Anchor[];
  /** All events without duplicates, in order of arrival. */
  readonly events: readonly SentEvent[];
  /** The impressions, in order of their timestamps. */
  readonly impressions: readonly SentEvent[];
  readonly #played: readonly Played[];

  constructor(batches: readonly TvExchange[], timing: Timing) {
    this.#timing = timing;
    const events = new Map<string, SentEvent>();
    const anchors: Anchor[] = [];
    for (const { atMs, events: sent } of batches) {
      const fresh = sent.filter(({ digest }) => !events.has(digest));
      for (const event of fresh) events.set(event.digest, event);
      const newest = largest(fresh.map((event) => event.seconds ?? Number.NEGATIVE_INFINITY));
      const seconds = this.#tvSeconds(atMs);
      if (Number.isFinite(newest)) anchors.push({ seconds, offset: newest - seconds });
    }
    this.#anchors = anchors;
    this.events = [...events.values()];
    this.impressions = this.events
      .filter(({ type }) => type === 'impression')
      .sort((one, other) => (one.seconds ?? 0) - (other.seconds ?? 0));
    this.#played = this.impressions.flatMap(({ seconds, duration = itemSeconds }) =>
      seconds === undefined
        ? []
        : [{ fromSeconds: seconds - Math.min(duration, maxDuration), toSeconds: seconds }],
    );
  }

  /**
   * Returns the time of the TV's clock at a moment, in epoch seconds. Returns `undefined` if the TV
   * sent no event with a timestamp. After a power cut, see `clockAfterPower`.
   */
  clockAt(atMs: number): number | undefined {
    const seconds = this.#tvSeconds(atMs);
    const distance = (anchor: Anchor) => Math.abs(anchor.seconds - seconds);
    const near = this.#anchors.filter((anchor) => distance(anchor) <= anchorRangeSeconds);
    const nearest = this.#anchors.toSorted((one, other) => distance(one) - distance(other));
    const used = near.length > 0 ? near : nearest.slice(0, 1);
    // A batch with only old events has an offset that is too small.
    return used.length === 0 ? undefined : seconds + largest(used.map(({ offset }) => offset));
  }

  /**
   * Returns the share of a time span in which the TV played, from 0 to 1. Returns `undefined` if it
   * cannot be measured.
   */
  share(fromMs: number, toMs: number): number | undefined {
    const from = this.clockAt(fromMs);
    const to = this.clockAt(toMs);
    if (from === undefined || to === undefined || to <= from) return undefined;
    const overlaps = this.#played.map(({ fromSeconds, toSeconds }) =>
      Math.max(0, Math.min(toSeconds, to) - Math.max(fromSeconds, from)),
    );
    return Math.min(1, overlaps.reduce((sum, one) => sum + one, 0) / (to - from));
  }

  #tvSeconds(atMs: number): number {
    return atMs / this.#timing.tvSecondMs;
  }
}
