import { SignageError } from '../../domain/error.ts';
import type { DropReason, PlayerPhase } from '../player/observer.ts';

/** What a TV of a fleet is at: what its player is at, or `off`. */
export type TvPhase = PlayerPhase | 'off';

/** Events of TVs, counted. */
export interface EventCounts {
  /** That came into being. */
  made: number;
  /** That the service took, each once. */
  acknowledged: number;
  /** That wait on the TVs. */
  queued: number;
  /** That TVs gave up, by their reasons. */
  dropped: Partial<Record<DropReason, number>>;
}

/** Failures of one kind: how many, and what the first said. */
export interface Failures {
  code: string;
  count: number;
  message: string;
}

/** Keeps count of what the TVs of a fleet do. */
export class FleetCounters {
  made = 0;
  queued = 0;
  readonly dropped: Partial<Record<DropReason, number>> = {};
  /** How many TVs are at each. */
  readonly phases: Partial<Record<TvPhase, number>> = {};
  /** TVs that had a key at any time. */
  bound = 0;
  /** TVs that ended without a key, for want of a code that was good. */
  givenUp = 0;
  /** How often TVs have taken a new key, and how often they went back to the former one. */
  rotations = 0;
  fallBacks = 0;
  /** How often each rule did something, in the order of the rules. */
  readonly faults = new Map<string, number>();
  readonly #failures = new Map<string, Failures>();

  /** `from` is left out where a TV is new. */
  move(from: TvPhase | undefined, to: TvPhase): void {
    if (from) this.phases[from] = (this.phases[from] ?? 0) - 1;
    this.phases[to] = (this.phases[to] ?? 0) + 1;
  }

  drop(why: DropReason, count: number): void {
    this.dropped[why] = (this.dropped[why] ?? 0) + count;
  }

  fault(rule: string): void {
    this.faults.set(rule, (this.faults.get(rule) ?? 0) + 1);
  }

  giveUp(error: SignageError | undefined): void {
    this.givenUp++;
    // A code that was refused has been told of already.
    if (!error)
      this.fail(new SignageError('no_pairing_code', 'There was no pairing code for a TV.'));
  }

  /** Notes a failure under its code; what is no `SignageError` is a mistake of ours, `unexpected`. */
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
