import type {
  DropReason,
  PlayerObserver,
  PlayerPhase,
  TvIdentity,
  UnpairedReason,
} from '../../player/observer.ts';
import type { PlayerState } from '../../player/state.ts';
import type { TvPhase } from './counters.ts';
import type { FleetContext } from './device.ts';

const queuedIn = (state: PlayerState | undefined) =>
  (state?.queue.length ?? 0) + (state?.batch?.events.length ?? 0);

/** Updates the fleet's counters with the reports of one player. */
export class DeviceObserver implements PlayerObserver {
  readonly #shared: FleetContext;
  readonly #number: number;
  #deviceId: string | undefined;
  #phase: TvPhase = 'off';
  readonly #reload: (reloadId: string) => void;
  #queued = 0;
  #wasBound = false;

  /** @param reload starts the player anew */
  constructor(shared: FleetContext, number: number, reload: (reloadId: string) => void) {
    this.#shared = shared;
    this.#number = number;
    this.#reload = reload;
    shared.counters.move(undefined, 'off');
  }

  /**
   * Called when the TV is switched on with its saved state. Events since the last save are lost,
   * and acknowledged events may be queued again.
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
    if (!this.#wasBound) this.#shared.counters.bound++;
    this.#wasBound = true;
  }

  onEvent(): void {
    this.#shared.counters.made++;
    this.#setQueued(this.#queued + 1);
  }

  onAcknowledged({ events }: { events: readonly unknown[] }): void {
    this.#setQueued(this.#queued - events.length);
  }

  onDropped(events: readonly unknown[], reason: DropReason): void {
    this.#shared.counters.drop(reason, events.length);
    this.#setQueued(this.#queued - events.length);
  }

  onPhase(phase: PlayerPhase): void {
    this.#move(phase);
  }

  onBound({ deviceId, screenId }: { deviceId: string; screenId: string }): void {
    this.#deviceId = deviceId;
    this.noteBound();
    this.#shared.codeProvider.bound(this.#number, screenId);
  }

  onIdentify(identity: TvIdentity | undefined): void {
    this.#shared.counters.identified += identity ? 1 : -1;
  }

  onReload(reloadId: string): void {
    this.#reload(reloadId);
  }

  onRotated(): void {
    this.#shared.counters.rotations++;
  }

  onFallBack(): void {
    this.#shared.counters.fallBacks++;
  }

  /**
   * Adds a finding if the TV rotates its key and has lost all working keys, although it was not
   * revoked.
   */
  onUnpaired(reason: UnpairedReason): void {
    const device = this.#shared.ledger.ofDevice(this.#deviceId ?? '');
    if (
      !device ||
      device.keys.size < 2 ||
      device.isBeingRevoked ||
      (reason !== 'revoked' && reason !== 'invalid')
    )
      return;
    this.#shared.ledger.findings.add(
      'locked_out',
      `The TV of the device ${device.deviceId} has no working key, although it was not revoked.`,
    );
  }

  onFailure(error: unknown): void {
    this.#shared.counters.fail(error);
  }

  #setQueued(queued: number): void {
    this.#shared.counters.queued += queued - this.#queued;
    this.#queued = queued;
  }

  #move(to: TvPhase): void {
    this.#shared.counters.move(this.#phase, to);
    this.#phase = to;
  }
}
