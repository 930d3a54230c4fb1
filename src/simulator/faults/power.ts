import { interrupted } from '../../client/interrupted.ts';

/**
 * The points at which the power can fail: at once, before or after a request, before or after a
 * save.
 */
export const cutPoints = ['now', 'sending', 'answered', 'saving', 'saved'] as const;
export type CutPoint = (typeof cutPoints)[number];

/**
 * The power supply of one TV. A cut takes effect when the TV next passes the given point. Without
 * power, nothing is sent or saved.
 */
export class Power {
  #supply = new AbortController();
  #cut: { at: CutPoint; forMs: number } | undefined;
  #offMs = 0;

  /** Aborts when the power fails. Replaced by a new signal when the power is restored. */
  get signal(): AbortSignal {
    return this.#supply.signal;
  }

  get isOn(): boolean {
    return !this.#supply.signal.aborted;
  }

  /** Duration of the last outage, in milliseconds. */
  get offMs(): number {
    return this.#offMs;
  }

  cut(at: CutPoint, forMs: number): void {
    if (!this.isOn) return;
    this.#cut = { at, forMs };
    if (at === 'now') this.#fail(forMs);
  }

  /** Cancels a cut that has not taken effect yet. */
  cancelCut(): void {
    this.#cut = undefined;
  }

  restore(): void {
    if (!this.isOn) this.#supply = new AbortController();
  }

  /** Passes a point. Throws `interrupted` if the power is off or fails here. */
  pass(point: CutPoint): void {
    if (point === this.#cut?.at) this.#fail(this.#cut.forMs);
    if (!this.isOn) throw interrupted();
  }

  #fail(forMs: number): void {
    this.#cut = undefined;
    this.#offMs = forMs;
    this.#supply.abort();
  }
}
