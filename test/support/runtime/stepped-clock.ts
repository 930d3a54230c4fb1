import { ManualClock } from './manual-clock.ts';

/** A clock that NTP corrects in steps. Timers run on at the same pace, as those of Node do. */
export class SteppedClock extends ManualClock {
  #offsetMs = 0;

  override now(): number {
    return super.now() + this.#offsetMs;
  }

  step(byMs: number): void {
    this.#offsetMs += byMs;
  }
}
