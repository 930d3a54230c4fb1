import { withJitter } from './backoff.ts';
import { statusEvent } from './batch.ts';
import type { PlayerCore } from './core.ts';
import { queueEvent } from './events.ts';

/**
 * Queues a heartbeat event at a regular interval. Sending it also sends all other queued events.
 */
export class HeartbeatTimer {
  readonly #core: PlayerCore;
  #intervalMs = 0;
  #cancel = () => {};

  constructor(core: PlayerCore) {
    this.#core = core;
  }

  /** Sets the interval. Restarts the timer if it has changed. */
  setIntervalMs(intervalMs: number): void {
    if (intervalMs === this.#intervalMs) return;
    this.#intervalMs = intervalMs;
    this.stop();
    this.#schedule();
  }

  stop(): void {
    this.#cancel();
  }

  #schedule(): void {
    this.#cancel = this.#core.clock.after(withJitter(this.#core, this.#intervalMs), () => {
      queueEvent(this.#core, statusEvent('heartbeat', this.#core.clock.now()), true);
      this.#schedule();
    });
  }
}
