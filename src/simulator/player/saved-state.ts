import { interrupted } from '../../client/interrupted.ts';
import { SingleFlight } from './single-flight.ts';
import type { PlayerBinding, PlayerMemory, PlayerState } from './state.ts';

/** What a TV knows that was never paired. */
export const freshState: PlayerState = { format: 1, queue: [] };

/** What a TV knows, and its memory of that. */
export class SavedPlayerState {
  state: PlayerState = freshState;
  /** Whether the power was cut: nothing is saved any more. */
  isCut = false;
  readonly #memory: PlayerMemory;
  readonly #hold: <T>(work: () => Promise<T>) => Promise<T>;
  readonly #saving = new SingleFlight(() => this.#save());
  #loaded: Promise<void> | undefined;

  /** `hold` does what takes no time of the TV. */
  constructor(memory: PlayerMemory, hold: <T>(work: () => Promise<T>) => Promise<T>) {
    this.#memory = memory;
    this.#hold = hold;
  }

  /** Takes over what the memory holds, once. */
  load(): Promise<void> {
    this.#loaded ??= this.#hold(async () => {
      const saved = await this.#memory.load();
      // What was reported before anybody looked comes after what was there already.
      if (saved) this.state = { ...saved, queue: [...saved.queue, ...this.state.queue] };
    });
    return this.#loaded;
  }

  /** The binding as it is kept, to check the own one against. */
  async keptBinding(): Promise<PlayerBinding | undefined> {
    return (await this.#hold(() => this.#memory.load()))?.binding;
  }

  change(part: Partial<PlayerState>): void {
    this.state = { ...this.state, ...part };
  }

  /** Resolves once what is known now is durable. */
  save(): Promise<void> {
    return this.#saving.run();
  }

  /** Resolves once all that was to be saved is, or has failed. */
  saved(): Promise<void> {
    return this.#saving.idle();
  }

  async #save(): Promise<void> {
    if (this.isCut) throw interrupted();
    await this.#hold(() => this.#memory.save(this.state));
  }
}
