import type { EventInput } from '../client/entities.ts';

export interface QueuedEvent {
  readonly position: number;
  readonly event: EventInput;
}

/** Changes of a queue since the last save. */
export interface QueueChange {
  /** Position of the oldest event. All events before it have left the queue. */
  readonly queueStart: number;
  /** New events, in ascending order of position. They replace events at the same positions. */
  readonly added: readonly QueuedEvent[];
}

/** Number of released slots at the front up to which the array is not compacted. */
const maxReleased = 1024;

/**
 * The unsent events of a TV, oldest first. `push` and `shift` take amortised constant time per
 * event. Each event has a position. The positions are consecutive.
 */
export class EventQueue {
  #slots: EventInput[];
  /** Number of slots at the front whose events have left the queue. */
  #released = 0;
  /** Position of the first slot. */
  #base: number;
  /** Events from this position on are new since the last `takeChange`. */
  #newFrom: number;
  /** Events before this position are also new, because they were put back at the front. */
  #newUntil: number;

  /** Creates a queue with saved events. `start` is the position of the first event. */
  constructor(saved: readonly EventInput[] = [], start = 0) {
    this.#slots = [...saved];
    this.#base = start;
    this.#newFrom = start + saved.length;
    this.#newUntil = start;
  }

  get length(): number {
    return this.#slots.length - this.#released;
  }

  /** Returns the position of the oldest event. */
  get start(): number {
    return this.#base + this.#released;
  }

  push(event: EventInput): void {
    this.#slots.push(event);
  }

  /** Puts events back at the front. */
  unshift(events: readonly EventInput[]): void {
    this.#newUntil = Math.max(this.#newUntil, this.start);
    this.#base = this.start - events.length;
    this.#slots = [...events, ...this.toArray()];
    this.#released = 0;
  }

  /** Removes and returns the oldest events, at most `count`. */
  shift(count: number): EventInput[] {
    const removed = this.#slots.slice(this.#released, this.#released + count);
    this.#released += removed.length;
    if (this.#released > maxReleased && this.#released > this.length) {
      this.#base = this.start;
      this.#slots = this.toArray();
      this.#released = 0;
    }
    return removed;
  }

  /** Returns the index of the first event for which `isFound` is true, or -1. */
  findIndex(isFound: (event: EventInput) => boolean): number {
    for (let index = this.#released; index < this.#slots.length; index++)
      if (isFound(this.#slots[index] as EventInput)) return index - this.#released;
    return -1;
  }

  toArray(): EventInput[] {
    return this.#slots.slice(this.#released);
  }

  /**
   * Returns the changes since the last call. If the changes cannot be saved, call `undo`: the next
   * call then returns them again.
   */
  takeChange(): QueueChange & { undo(): void } {
    const { start } = this;
    const end = start + this.length;
    const newFrom = this.#newFrom;
    const newUntil = this.#newUntil;
    const added = [
      ...this.#range(start, newUntil),
      ...this.#range(Math.max(start, newFrom, newUntil), end),
    ];
    this.#newFrom = end;
    this.#newUntil = Number.NEGATIVE_INFINITY;
    const undo = () => {
      this.#newFrom = Math.min(this.#newFrom, newFrom);
      this.#newUntil = Math.max(this.#newUntil, newUntil);
    };
    return { queueStart: start, added, undo };
  }

  #range(from: number, until: number): QueuedEvent[] {
    const offset = from - this.#base;
    return this.#slots
      .slice(offset, Math.max(offset, until - this.#base))
      .map((event, index) => ({ position: from + index, event }));
  }
}
