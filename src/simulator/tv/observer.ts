import type { PairingCodeProvider } from '../fleet/code-provider.ts';
import type { FleetCounters, TvPhase } from '../fleet/report.ts';
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

/** Updates the fleet's counters with what one player reports. */
export class DeviceObserver implements PlayerObserver {
  readonly #counters: FleetCounters;
  readonly #codeProvider: PairingCodeProvider;
  readonly #ledger: FleetLedger;
  readonly #number: number;
  #deviceId: string | undefined;
  #phase: TvPhase = 'off';
  #queued = 0;
  #wasBound = false;

  constructor(
    {
      counters,
      codeProvider,
      ledger,
    }: { counters: FleetCounters; codeProvider: PairingCodeProvider; ledger: FleetLedger },
    number: number,
  ) {
    this.#counters = counters;
    this.#codeProvider = codeProvider;
    this.#ledger = ledger;
    this.#number = number;
    counters.move(undefined, 'off');
  }

  /**
   * The TV is switched on with its saved state. Events since the last save are lost, and
   * acknowledged events may be queued again.
   */
  switchedOn(state: PlayerState | undefined): void {
    this.#deviceId = state?.binding?.deviceId;
    this.#setQueued(queuedIn(state));
    this.onPhase('unpaired');
  }

  switchedOff(): void {
    this.#move('off');
  }

  noteBound(): void {
    if (!this.#wasBound) this.#counters.bound++;
    this.#wasBound = true;
  }

  onEvent(): void {
    this.#counters.made++;
    this.#setQueued(this.#queued + 1);
  }

  onAcknowledged({ events }: { events: readonly unknown[] }): void {
    this.#setQueued(this.#queued - events.length);
  }

  onDropped(events: readonly unknown[], reason: DropReason): void {
    this.#counters.drop(reason, events.length);
    this.#setQueued(this.#queued - events.length);
  }

  onPhase(phase: PlayerPhase): void {
    this.#move(phase);
  }

  onBound({ deviceId, screenId }: { deviceId: string; screenId: string }): void {
    this.#deviceId = deviceId;
    this.noteBound();
    this.#codeProvider.bound(this.#number, screenId);
  }

  onRotated(): void {
    this.#counters.rotations++;
  }

  onFallBack(): void {
    this.#counters.fallBacks++;
  }

  /** A TV that rotates its key must never be locked out, unless it was revoked. */
  onUnpaired(reason: UnpairedReason): void {
    const device = this.#ledger.ofDevice(this.#deviceId ?? '');
    if (
      !device ||
      device.keys.size < 2 ||
      device.isBeingRevoked ||
      (reason !== 'revoked' && reason !== 'invalid')
    )
      return;
    this.#ledger.findings.add(
      'locked_out',
      `The TV of the device ${device.deviceId} has no working key, although it was not revoked.`,
    );
  }

  onFailure(error: unknown): void {
    this.#counters.fail(error);
  }

  #setQueued(queued: number): void {
    this.#counters.queued += queued - this.#queued;
    this.#queued = queued;
  }

  #move(to: TvPhase): void {
    this.#counters.move(this.#phase, to);
    this.#phase = to;
  }
}
