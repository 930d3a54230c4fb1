import type { PlayerMemory, PlayerState } from '../player/state.ts';
import type { Power } from './power.ts';

/** The persistent memory of a simulated TV. A power cut may occur just before or after a save. */
export class TvMemory implements PlayerMemory {
  readonly #power: Power;
  #state: PlayerState | undefined;

  constructor(power: Power, state?: PlayerState) {
    this.#power = power;
    this.#state = state;
  }

  get state(): PlayerState | undefined {
    return this.#state;
  }

  async load(): Promise<PlayerState | undefined> {
    return this.#state;
  }

  async save(state: PlayerState): Promise<void> {
    this.#power.pass('saving');
    this.#state = state;
    this.#power.pass('saved');
  }

  /** Erases everything, as a factory reset does. */
  wipe(): void {
    this.#state = undefined;
  }
}
