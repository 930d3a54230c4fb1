import { pause } from '../../client/pause.ts';
import type { PlayerEnd } from '../player/options.ts';
import { Player } from '../player/player.ts';
import type { PlayerState } from '../player/state.ts';
import type { SeededRandom } from '../time/seeded-random.ts';
import { type FleetContext, SimulatedDevice } from './device.ts';
import type { DeviceInfoInput } from './device-info.ts';
import { DeviceObserver } from './observer.ts';

export interface FleetTvOptions {
  /** From 0 on. */
  number: number;
  deviceInfo: DeviceInfoInput;
  /** How long after the others it is switched on, and how long it lives from then on: by its own time, in milliseconds. */
  delayMs: number;
  lifeMs: number;
  /** What it kept of an earlier run. */
  state?: PlayerState | undefined;
}

/** One TV of a fleet, from when it is switched on to its end, with all the power cuts in between. */
export class FleetTv {
  readonly #shared: FleetContext;
  readonly #options: FleetTvOptions;
  readonly #set: SimulatedDevice;
  readonly #account: DeviceObserver;
  readonly #chance: SeededRandom;
  readonly #ending = new AbortController();
  #player: Player | undefined;
  #onSinceMs = Number.POSITIVE_INFINITY;

  constructor(shared: FleetContext, options: FleetTvOptions) {
    const { number, state } = options;
    this.#shared = shared;
    this.#options = options;
    this.#set = new SimulatedDevice(shared, number, state);
    this.#account = new DeviceObserver(shared, number);
    this.#chance = this.#set.chanceFor('player');
    if (!state?.binding) return;
    shared.ledger.resumed(
      state.binding,
      state.batch ? [state.batch.idempotencyKey] : [],
      state.formerKey?.apiKey,
    );
    this.#account.noteBound();
  }

  /** What it would still know after a power cut now. */
  get state(): PlayerState | undefined {
    return this.#set.memory.state;
  }

  /** How much of its time has gone by since it was switched on. */
  get livedMs(): number {
    return Math.max(0, this.#set.clock.now() - this.#onSinceMs);
  }

  /** Lives: is switched on, is a TV, and ends in good order after its time or when `retire` is called. Throws what the code desk throws. */
  async live(): Promise<void> {
    const { delayMs, lifeMs } = this.#options;
    const cancelEnd = this.#set.clock.after(delayMs + lifeMs, () => this.retire());
    if (delayMs > 0) await pause(this.#set.clock, delayMs, this.#ending.signal);
    this.#onSinceMs = this.#set.clock.now();
    const stopTroubles = this.#set.startTroubles();
    this.#ending.signal.addEventListener('abort', stopTroubles, { once: true });
    try {
      await this.#liveOn();
    } finally {
      stopTroubles();
      cancelEnd();
    }
  }

  /** Asks it to end in good order. */
  retire(): void {
    this.#set.power.spare();
    this.#player?.stop();
    this.#ending.abort();
  }

  /** Takes its power away, for good. */
  kill(): void {
    this.#set.power.cut('now', 0);
    this.#ending.abort();
  }

  /** From one power cut to the next. */
  async #liveOn(): Promise<void> {
    const { clock, power } = this.#set;
    while (!this.#ending.signal.aborted) {
      power.restore();
      const end = await this.#beOn();
      if (end.reason === 'unpaired') this.#shared.tally.giveUp(end.error);
      if (end.reason !== 'aborted') return;
      await pause(clock, power.offMs, this.#ending.signal);
    }
  }

  async #beOn(): Promise<PlayerEnd> {
    const { desk, speed, rotateEveryMs } = this.#shared;
    const { number, deviceInfo } = this.#options;
    const { clock, shownClock, client, memory, power } = this.#set;
    this.#account.switchedOn(memory.state);
    this.#player = new Player({
      ...{ client, deviceInfo, memory, clock: shownClock, speed, rotateEveryMs },
      random: (length) => this.#chance.bytes(length),
      nextCode: (why) => clock.hold(() => desk.codeFor(number, why)),
      observer: this.#account,
    });
    try {
      return await this.#player.run(power.signal);
    } finally {
      this.#player = undefined;
      this.#account.switchedOff();
    }
  }
}
