import { interrupted } from '../client/pause.ts';
import type { PlayerBinding, PlayerMemory, PlayerState } from './state.ts';

/**
 * Single flight: runs work one at a time. All callers that arrive during a run share the next run.
 */
class SingleFlight {
  readonly #work: () => Promise<void>;
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Runs the work after this call, and settles as that run does. */
  run(): Promise<void> {
    this.#next ??= this.#runAfter(this.#current);
    return this.#next;
  }

  /** Resolves once no run is pending, whether it succeeded or failed. */
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

/** The state of a TV that was never paired. */
export const freshState: PlayerState = { format: 1, queue: [] };

/** The state of a TV, and its persistent memory. */
export class SavedPlayerState {
  state: PlayerState = freshState;
  /** Whether the power is cut. Then nothing is saved any more. */
  isCut = false;
  readonly #memory: PlayerMemory;
  readonly #hold: <T>(work: () => Promise<T>) => Promise<T>;
  readonly #saving = new SingleFlight(() => this.#save());
  #loaded: Promise<void> | undefined;

  /** `hold` runs work that takes no simulated time. */
  constructor(memory: PlayerMemory, hold: <T>(work: () => Promise<T>) => Promise<T>) {
    this.#memory = memory;
    this.#hold = hold;
  }

  /** Loads the saved state, once. */
  load(): Promise<void> {
    this.#loaded ??= this.#hold(async () => {
      const saved = await this.#memory.load();
      // Events reported before loading come after the saved ones.
      if (saved) this.state = { ...saved, queue: [...saved.queue, ...this.state.queue] };
    });
    return this.#loaded;
  }

  /** Returns the saved binding, to compare it with the binding in memory. */
  async savedBinding(): Promise<PlayerBinding | undefined> {
    return (await this.#hold(() => this.#memory.load()))?.binding;
  }

  change(part: Partial<PlayerState>): void {
    this.state = { ...this.state, ...part };
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
    await this.#hold(() => this.#memory.save(this.state));
  }
}
