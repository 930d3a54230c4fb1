import { interrupted } from '../../client/pause.ts';
import type { Clock } from '../../domain/clock.ts';
import type { PlayerMemory, PlayerState } from '../../player/state.ts';

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

  /** Duration of the last power cut, in milliseconds. */
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

  /** Called when the TV reaches a point. Throws `interrupted` if the power is off or fails here. */
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

/** The network outages of one TV. */
export class Outage {
  #untilMs = Number.NEGATIVE_INFINITY;
  #rule = '';

  begin(untilMs: number, rule: string): void {
    if (untilMs <= this.#untilMs) return;
    this.#untilMs = untilMs;
    this.#rule = rule;
  }

  /** Returns the rule that caused the outage at this time, or `undefined` if the network is up. */
  ruleAt(nowMs: number): string | undefined {
    return nowMs < this.#untilMs ? this.#rule : undefined;
  }
}

/**
 * A clock that runs at the right speed but shows the wrong time, for example after its battery was
 * empty.
 */
export class SkewedClock implements Clock {
  readonly #accurate: Clock;
  #skewMs = 0;

  constructor(accurate: Clock) {
    this.#accurate = accurate;
  }

  now(): number {
    return this.#accurate.now() + this.#skewMs;
  }

  /** The skew does not affect delays. */
  after(delayMs: number, wake: () => void): () => void {
    return this.#accurate.after(delayMs, wake);
  }

  /** Moves the clock by `byMs`, relative to its current time. */
  shift(byMs: number): void {
    this.#skewMs += byMs;
  }
}

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

  /** Erases the memory, as a factory reset does. */
  wipe(): void {
    this.#state = undefined;
  }
}
