import type { DeviceInfoInput } from '../../client/entities.ts';
import { pause } from '../../client/pause.ts';
import { Player } from '../../player/assembly/player.ts';
import type { PlayerEnd } from '../../player/options.ts';
import type { PlayerState } from '../../player/state.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type FleetContext, SimulatedDevice } from './device.ts';
import { startLifeFaults } from './life-faults.ts';
import { DeviceObserver } from './observer.ts';

export interface FleetTvOptions {
  /** Number in the fleet, from 0. */
  number: number;
  deviceInfo: DeviceInfoInput;
  /** Delay until the TV is switched on, by its own clock, in milliseconds. */
  delayMs: number;
  /** Life after switching on, by its own clock, in milliseconds. */
  lifeMs: number;
  /** Saved state of an earlier run. `undefined` for a new TV. */
  state?: PlayerState | undefined;
}

/** One TV of a fleet, from switching it on to its end, with all power cuts in between. */
export class FleetTv {
  readonly #shared: FleetContext;
  readonly #options: FleetTvOptions;
  readonly #device: SimulatedDevice;
  readonly #observer: DeviceObserver;
  readonly #random: SeededRandom;
  readonly #ending = new AbortController();
  #player: Player | undefined;
  /** The reload with which the next player starts. */
  #reloadId: string | undefined;
  #onSinceMs = Number.POSITIVE_INFINITY;

  constructor(shared: FleetContext, options: FleetTvOptions) {
    const { number, state } = options;
    this.#shared = shared;
    this.#options = options;
    this.#device = new SimulatedDevice(shared, number, state);
    this.#observer = new DeviceObserver(shared, number, (reloadId) => {
      this.#reloadId = reloadId;
      this.#player?.stop();
    });
    this.#random = this.#device.randomFor('player');
    if (!state?.binding) return;
    shared.ledger.resumed(
      state.binding,
      state.batch ? [state.batch.idempotencyKey] : [],
      state.formerKey?.apiKey,
    );
    this.#observer.noteBound();
  }

  /** The saved state, which survives a power cut. */
  get state(): PlayerState | undefined {
    return this.#device.memory.state;
  }

  /** Simulated time since the TV was switched on, in milliseconds. */
  get livedMs(): number {
    return Math.max(0, this.#device.clock.now() - this.#onSinceMs);
  }

  /**
   * Switches the TV on and runs it until its life ends, or `retire` or `kill` is called. Throws the
   * errors of the code provider.
   */
  async live(): Promise<void> {
    const { delayMs, lifeMs } = this.#options;
    const cancelEnd = this.#device.clock.after(delayMs + lifeMs, () => this.retire());
    if (delayMs > 0) await pause(this.#device.clock, delayMs, this.#ending.signal);
    this.#onSinceMs = this.#device.clock.now();
    const stopFaults = startLifeFaults(this.#device);
    this.#ending.signal.addEventListener('abort', stopFaults, { once: true });
    try {
      await this.#runUntilRetired();
    } finally {
      stopFaults();
      cancelEnd();
    }
  }

  /** Requests an orderly stop. */
  retire(): void {
    this.#device.power.cancelCut();
    this.#player?.stop();
    this.#ending.abort();
  }

  /** Cuts the power and never restores it. */
  kill(): void {
    this.#device.power.cut('now', 0);
    this.#ending.abort();
  }

  /** Restarts the player after each power cut, and when it is to be reloaded. */
  async #runUntilRetired(): Promise<void> {
    const { clock, power } = this.#device;
    while (!this.#ending.signal.aborted) {
      power.restore();
      const end = await this.#runPlayer();
      if (end.reason === 'unpaired') this.#shared.counters.giveUp(end.error);
      if (end.reason === 'stopped' && this.#reloadId !== undefined) continue;
      if (end.reason !== 'aborted') return;
      await pause(clock, power.offMs, this.#ending.signal);
    }
  }

  async #runPlayer(): Promise<PlayerEnd> {
    const { codeProvider, speed, rotateEveryMs, maxWaitSeconds } = this.#shared;
    const { number, deviceInfo } = this.#options;
    const { clock, skewedClock, client, memory, power } = this.#device;
    const reloadId = this.#reloadId;
    this.#reloadId = undefined;
    this.#observer.switchedOn(memory.state);
    this.#player = new Player({
      client,
      deviceInfo,
      memory,
      clock: skewedClock,
      speed,
      rotateEveryMs,
      maxWaitSeconds,
      reloadId,
      random: (length) => this.#random.bytes(length),
      nextCode: (why) => clock.hold(() => codeProvider.codeFor(number, why)),
      observer: this.#observer,
    });
    try {
      return await this.#player.run(power.signal);
    } finally {
      this.#player = undefined;
      this.#observer.switchedOff();
    }
  }
}
