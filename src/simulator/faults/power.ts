import { interrupted } from '../../client/interrupted.ts';

/** Where in what a TV does its power may fail: at once, before or after a request or a save. */
export const cutPoints = ['now', 'sending', 'answered', 'saving', 'saved'] as const;
export type CutPoint = (typeof cutPoints)[number];

/** The power of one TV. Cut at a point, it fails when the TV next comes by there; from then on nothing is sent or saved until it is on again. */
export class Power {
  #supply = new AbortController();
  #cut: { at: CutPoint; forMs: number } | undefined;
  #offMs = 0;

  /** Aborts when the power fails. Another one each time it comes back. */
  get signal(): AbortSignal {
    return this.#supply.signal;
  }

  get isOn(): boolean {
    return !this.#supply.signal.aborted;
  }

  /** For how long it is off after the last cut. */
  get offMs(): number {
    return this.#offMs;
  }

  cut(at: CutPoint, forMs: number): void {
    if (!this.isOn) return;
    this.#cut = { at, forMs };
    if (at === 'now') this.#fail(forMs);
  }

  /** Forgets a cut that has not happened yet. */
  spare(): void {
    this.#cut = undefined;
  }

  restore(): void {
    if (!this.isOn) this.#supply = new AbortController();
  }

  /** The TV comes by a point. Throws `interrupted` when there is no power, or no more. */
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
