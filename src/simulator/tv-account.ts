import type { CodeDesk } from './code-desk.ts';
import type { FleetTally, TvPhase } from './fleet-tally.ts';
import type { PlayerState } from './player-memory.ts';
import type { DropReason, PlayerObserver, PlayerPhase } from './player-observer.ts';

const queuedIn = (state: PlayerState | undefined) => (state?.queue.length ?? 0) + (state?.batch?.events.length ?? 0);

/** Keeps one TV's part of the fleet's tally, by what its player tells. */
export class TvAccount implements PlayerObserver {
  readonly #tally: FleetTally;
  readonly #desk: CodeDesk;
  readonly #number: number;
  #phase: TvPhase = 'off';
  #queued = 0;
  #wasBound = false;

  constructor(tally: FleetTally, desk: CodeDesk, number: number) {
    this.#tally = tally;
    this.#desk = desk;
    this.#number = number;
    tally.move(undefined, 'off');
  }

  /** It is on again, and knows what it had saved: events may have been forgotten, or acknowledged ones be remembered. */
  switchedOn(state: PlayerState | undefined): void {
    this.#setQueued(queuedIn(state));
    this.onPhase('unpaired');
  }

  switchedOff(): void {
    this.#move('off');
  }

  noteBound(): void {
    if (!this.#wasBound) this.#tally.bound++;
    this.#wasBound = true;
  }

  onEvent(): void {
    this.#tally.made++;
    this.#setQueued(this.#queued + 1);
  }

  onAcknowledged({ events }: { events: readonly unknown[] }): void {
    this.#setQueued(this.#queued - events.length);
  }

  onDropped(events: readonly unknown[], why: DropReason): void {
    this.#tally.drop(why, events.length);
    this.#setQueued(this.#queued - events.length);
  }

  onPhase(phase: PlayerPhase): void {
    this.#move(phase);
  }

  onBound({ screenId }: { screenId: string }): void {
    this.noteBound();
    this.#desk.bound(this.#number, screenId);
  }

  onFailure(error: unknown): void {
    this.#tally.fail(error);
  }

  #setQueued(queued: number): void {
    this.#tally.queued += queued - this.#queued;
    this.#queued = queued;
  }

  #move(to: TvPhase): void {
    this.#tally.move(this.#phase, to);
    this.#phase = to;
  }
}
