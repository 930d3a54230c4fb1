import { about } from './backoff.ts';
import { statusEvent } from './batch.ts';
import type { PlayerCore } from './core.ts';
import { keepEvent } from './events.ts';

/** A heartbeat event every so often; it takes with it what else waits to be sent. */
export class HeartbeatTimer {
  readonly #core: PlayerCore;
  #everyMs = 0;
  #cancel = () => {};

  constructor(core: PlayerCore) {
    this.#core = core;
  }

  /** Goes by the config; from now on, if that has another interval than before. */
  keepTo(everyMs: number): void {
    if (everyMs === this.#everyMs) return;
    this.#everyMs = everyMs;
    this.stop();
    this.#await();
  }

  stop(): void {
    this.#cancel();
  }

  #await(): void {
    this.#cancel = this.#core.clock.after(about(this.#core, this.#everyMs), () => {
      keepEvent(this.#core, statusEvent('heartbeat', this.#core.clock.now()), true);
      this.#await();
    });
  }
}
