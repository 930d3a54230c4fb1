// A player that sits the exam.
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { TvPower } from '../../src/exam/options.ts';
import type { PlayerOptions } from '../../src/player/options.ts';
import { ramMemory } from '../../src/player/state.ts';
import { SimulatedPlayer } from '../../src/simulator/tv/simulated-player.ts';

/** A simulated TV: a person enters codes at it, and can pull its plug. */
export class ExaminedTv implements TvPower {
  readonly #speed: number;
  readonly #more: Partial<PlayerOptions>;
  readonly #memory = ramMemory();
  #codes: string[] = [];
  #enter = () => {};
  url = '';
  #plug = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(speed: number, more: Partial<PlayerOptions> = {}) {
    this.#speed = speed;
    this.#more = more;
  }

  /** Enters a code. The first one switches the TV on. */
  readonly onCode = (code: string, url: string): void => {
    this.#codes.push(code);
    this.#enter();
    if (this.#running) return;
    this.url = url;
    void this.on();
  };

  async on(): Promise<void> {
    this.#plug = new AbortController();
    const player = new SimulatedPlayer({
      client: new RuntimeClient({ url: this.url, timeoutMs: 5000 }),
      deviceInfo: { model: 'TV' },
      speed: this.#speed,
      memory: this.#memory,
      nextCode: () => this.#nextCode(),
      ...this.#more,
    });
    this.#running = player.run(this.#plug.signal);
  }

  async off(): Promise<boolean> {
    this.#plug.abort();
    this.#enter();
    await this.#running;
    return true;
  }

  async #nextCode(): Promise<string | undefined> {
    while (this.#codes.length === 0 && !this.#plug.signal.aborted)
      await new Promise<void>((resolve) => {
        this.#enter = resolve;
      });
    return this.#codes.shift();
  }
}
