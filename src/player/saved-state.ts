import type { EventInput } from '../client/entities.ts';
import { interrupted } from '../client/pause.ts';
import { EventQueue } from './event-queue.ts';
import type { PlayerBinding, PlayerHead, PlayerMemory, PlayerState } from './state.ts';

/**
 * Single flight: performs one run at a time. All callers that arrive during a run share the next
 * run.
 */
class SingleFlight {
  readonly #work: () => Promise<void>;
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Performs a run that begins after this call. Settles like that run. */
  run(): Promise<void> {
    this.#next ??= this.#runAfter(this.#current);
    return this.#next;
  }

  /** Resolves once no run is pending. Ignores errors of runs. */
  async idle(): Promise<void> {
    for (let last = this.#next ?? this.#current; last; last = this.#next)
      await last.catch(() => {});
  }

  async #runAfter(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => {});
    this.#current = this.#next;
    this.#next = undefined;
    await this.#work();
  }
}

/** Returns the members that differ. A removed member is `undefined`. */
function changedMembers(before: PlayerHead, after: PlayerHead): PlayerHead {
  const names = Object.keys({ ...before, ...after }) as (keyof PlayerHead)[];
  return Object.fromEntries(
    names.filter((name) => before[name] !== after[name]).map((name) => [name, after[name]]),
  );
}

/** The state of a TV, with its persistent memory. */
export class SavedPlayerState {
  /** All members except the queue. Immutable: each change replaces the object. */
  head: PlayerHead = {};
  queue = new EventQueue();
  /** Whether the power is cut. The TV then saves nothing any more. */
  isCut = false;
  readonly #memory: PlayerMemory;
  readonly #hold: <T>(work: () => Promise<T>) => Promise<T>;
  readonly #saving = new SingleFlight(() => this.#save());
  #loaded: Promise<void> | undefined;
  #savedHead: PlayerHead = {};

  /** `hold` runs work that takes no simulated time. */
  constructor(memory: PlayerMemory, hold: <T>(work: () => Promise<T>) => Promise<T>) {
    this.#memory = memory;
    this.#hold = hold;
  }

  /** Loads the saved state, once. */
  load(): Promise<void> {
    this.#loaded ??= this.#hold(async () => {
      const saved = await this.#memory.load();
      if (!saved) return;
      const { format: _, queue, queueStart, ...head } = saved;
      this.head = head;
      this.#savedHead = head;
      const reported = this.queue;
      this.queue = new EventQueue(queue, queueStart);
      // Events reported before loading come after the saved events.
      for (const event of reported.toArray()) this.addEvent(event);
    });
    return this.#loaded;
  }

  /** Reads the binding again from the persistent memory, to compare it with the binding in RAM. */
  async savedBinding(): Promise<PlayerBinding | undefined> {
    return (await this.#hold(() => this.#memory.load()))?.binding;
  }

  change(part: PlayerHead): void {
    this.head = { ...this.head, ...part };
  }

  /**
   * Queues an event with the next number, and returns the event. The number is saved with the
   * event, so a power cut neither repeats a number that was sent nor leaves a gap.
   */
  addEvent(event: EventInput): EventInput {
    const { nextSeq: seq = 1 } = this.head;
    const queued = seq === null ? event : { ...event, seq };
    if (seq !== null) this.change({ nextSeq: seq + 1 });
    this.queue.push(queued);
    return queued;
  }

  /** Resolves once the current state is durable. */
  save(): Promise<void> {
    return this.#saving.run();
  }

  /** Resolves once all pending saves have completed or failed. */
  whenSaved(): Promise<void> {
    return this.#saving.idle();
  }

  async #save(): Promise<void> {
    if (this.isCut) throw interrupted();
    await this.#hold(() =>
      this.#memory.update ? this.#update() : this.#memory.save(this.#state()),
    );
  }

  async #update(): Promise<void> {
    const { head } = this;
    const { undo, ...queueChange } = this.queue.takeChange();
    const change = { head: changedMembers(this.#savedHead, head), ...queueChange };
    const state = () => ({ ...this.#state(), queueStart: this.queue.start });
    try {
      await this.#memory.update?.(change, state);
      this.#savedHead = head;
    } catch (error) {
      undo();
      throw error;
    }
  }

  #state(): PlayerState {
    return { format: 1, ...this.head, queue: this.queue.toArray() };
  }
}
