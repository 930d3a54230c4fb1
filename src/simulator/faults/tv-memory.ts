import type { PlayerMemory, PlayerState } from '../player/state.ts';
import type { Power } from './power.ts';

/** What a simulated TV keeps over power cuts, which may come just before or after it is kept. */
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

  /** As a factory reset does. */
  wipe(): void {
    this.#state = undefined;
  }
}
