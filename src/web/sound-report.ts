import type { EventInput } from '../client/entities.ts';
import { secondMs, systemClock } from '../domain/clock.ts';

/** Reports when the browser begins and ceases to refuse sound (docs/protocol.md §2.5). */
export class SoundReport {
  #isMuted = false;
  readonly #report: (event: EventInput) => void;

  constructor(report: (event: EventInput) => void) {
    this.#report = report;
  }

  note(isMuted: boolean): void {
    if (isMuted === this.#isMuted) return;
    this.#isMuted = isMuted;
    const timestamp = Math.floor(systemClock.now() / secondMs);
    this.#report({ type: isMuted ? 'muted' : 'unmuted', timestamp });
  }
}
