import { SignageError } from '../../domain/error.ts';
import type { DropReason, PlayerPhase } from '../../player/observer.ts';

/** The phase of a TV: the phase of its player, or `off`. */
export type TvPhase = PlayerPhase | 'off';

/** Failures with the same code, and the message of the first. */
export interface Failures {
  code: string;
  count: number;
  message: string;
}

/** Counts the events, failures, faults and phases of the TVs of a fleet. */
export class FleetCounters {
  made = 0;
  queued = 0;
  readonly dropped: Partial<Record<DropReason, number>> = {};
  readonly phases: Partial<Record<TvPhase, number>> = {};
  /** Number of TVs that draw who they are. */
  identified = 0;
  /** Number of TVs that have ever had a key. */
  bound = 0;
  /** Number of TVs that ended without a key, for lack of a valid code. */
  givenUp = 0;
  /** Number of key rotations, and of fallbacks to the previous key. */
  rotations = 0;
  fallBacks = 0;
  /** Number of times that each fault rule took effect. */
  readonly faults = new Map<string, number>();
  readonly #failures = new Map<string, Failures>();

  /** Moves a TV to another phase. Omit `from` for a new TV. */
  move(from: TvPhase | undefined, to: TvPhase): void {
    if (from) this.phases[from] = (this.phases[from] ?? 0) - 1;
    this.phases[to] = (this.phases[to] ?? 0) + 1;
  }

  drop(reason: DropReason, count: number): void {
    this.dropped[reason] = (this.dropped[reason] ?? 0) + count;
  }

  fault(rule: string): void {
    this.faults.set(rule, (this.faults.get(rule) ?? 0) + 1);
  }

  giveUp(error: SignageError | undefined): void {
    this.givenUp++;
    // A rejected code has been counted as a failure already.
    if (!error)
      this.fail(new SignageError('no_pairing_code', 'There was no pairing code for a TV.'));
  }

  /**
   * Counts a failure under its code. Anything but a `SignageError` is a bug, counted as
   * `unexpected`.
   */
  fail(error: unknown): void {
    const code = error instanceof SignageError ? error.code : 'unexpected';
    const message = error instanceof Error ? error.message : String(error);
    const known = this.#failures.get(code) ?? { code, count: 0, message };
    this.#failures.set(code, { ...known, count: known.count + 1 });
  }

  /** Ordered by code. */
  get failures(): Failures[] {
    return [...this.#failures.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
  }
}
