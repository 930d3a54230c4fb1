import type { PairingCodeProvider } from '../fleet/code-provider.ts';
import type { FleetCounters, TvPhase } from '../fleet/counters.ts';
import type {
  DropReason,
  PlayerObserver,
  PlayerPhase,
  UnpairedReason,
} from '../player/observer.ts';
import type { PlayerState } from '../player/state.ts';
import type { FleetLedger } from '../verify/ledger.ts';

const queuedIn = (state: PlayerState | undefined) =>
  (state?.queue.length ?? 0) + (state?.batch?.events.length ?? 0);

/** Keeps one TV's part of the fleet's tally, by what its player tells. */
export class DeviceObserver implements PlayerObserver {
  readonly #tally: FleetCounters;
  readonly #desk: PairingCodeProvider;
  readonly #ledger: FleetLedger;
  readonly #number: number;
  #deviceId: string | undefined;
  #phase: TvPhase = 'off';
  #queued = 0;
  #wasBound = false;

  constructor(
    {
      tally,
      desk,
      ledger,
    }: { tally: FleetCounters; desk: PairingCodeProvider; ledger: FleetLedger },
    number: number,
  ) {
    this.#tally = tally;
    this.#desk = desk;
    this.#ledger = ledger;
    this.#number = number;
    tally.move(undefined, 'off');
  }

  /** It is on again, and knows what it had saved: events may have been forgotten, or acknowledged ones be remembered. */
  switchedOn(state: PlayerState | undefined): void {
    this.#deviceId = state?.binding?.deviceId;
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

  onBound({ deviceId, screenId }: { deviceId: string; screenId: string }): void {
    this.#deviceId = deviceId;
    this.noteBound();
    this.#desk.bound(this.#number, screenId);
  }

  onRotated(): void {
    this.#tally.rotations++;
  }

  onFallBack(): void {
    this.#tally.fallBacks++;
  }

  /** Whoever changes its key must never be left without one, unless somebody took it away. */
  onUnpaired(why: UnpairedReason): void {
    const device = this.#ledger.ofDevice(this.#deviceId ?? '');
    if (
      !device ||
      device.keys.size < 2 ||
      device.isBeingRevoked ||
      (why !== 'revoked' && why !== 'invalid')
    )
      return;
    this.#ledger.findings.add(
      'locked_out',
      `The TV of the device ${device.deviceId} has no key that works, and nobody has revoked it.`,
    );
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
