import type { DeviceClient } from '../client/device-client.ts';
import { interrupted } from '../client/pause.ts';
import { minuteMs, type Random, randomHex, systemClock, systemRandom } from '../domain/clock.ts';
import { hasCode, SignageError } from '../domain/error.ts';
import { largestBatch } from './batch.ts';
import { WakeUp } from './job-timer.ts';
import type {
  PlayerAnswer,
  PlayerObserver,
  PlayerPhase,
  RuntimeOperation,
  UnpairedReason,
} from './observer.ts';
import type { PlayerClock, PlayerOptions, Showing } from './options.ts';
import { PlaylistSwitches, type Present } from './playlist-switches.ts';
import { SavedPlayerState } from './saved-state.ts';
import { type Stage, timerStage } from './stage.ts';
import { type PlayerBinding, type PlayerHead, ramMemory } from './state.ts';

const noObserver: PlayerObserver = {};
/** Valid range of the intervals in a config, in minutes (docs/protocol.md §5.4). */
const intervalRange = { min: 1, max: 1440 };
/** Intervals in minutes, used if the config contains no number. */
const defaultIntervals = { syncIntervalMinutes: 5, heartbeatIntervalMinutes: 1 };

export type FetchOperation = 'getDeviceConfig' | 'getPlaylist';

/** State shared by the parts of a player. */
export class PlayerCore {
  readonly options: PlayerOptions;
  readonly observer: PlayerObserver;
  readonly clock: PlayerClock;
  readonly speed: number;
  readonly stage: Stage;
  readonly record: SavedPlayerState;
  /** Reason why the TV needs a pairing code. Unused while the TV has a key. */
  unpaired: { why: UnpairedReason; error: SignageError | undefined } = {
    why: 'new',
    error: undefined,
  };
  showing: Showing | undefined;
  /** Whether nobody can see the stage. Nothing is played meanwhile. */
  isHidden = false;
  /**
   * What the TV draws over the picture: until when, in Unix epoch seconds of the service, and since
   * when by its own clock. `undefined`: nothing.
   */
  identity:
    | { until: number; sinceMs: number; isReported: boolean; cancelEnd: () => void }
    | undefined;
  /** Time for which earlier identities covered the stage, in milliseconds. */
  coveredBeforeMs = 0;
  /** The reload that the next `app_started` names. */
  reloadId: string | undefined;
  readonly answers: Partial<Record<RuntimeOperation, PlayerAnswer>> = {};
  /** Whether the last call reached the service. Ignores holds without a response. */
  reached = true;
  isRegistering = false;
  /** Whether a person has withdrawn the code of the pending registration, to type another code. */
  isCodeWithdrawn = false;
  /** Whether queued events must be sent at once. */
  isUrgent = false;
  /**
   * Maximum batch size. Halved when the service rejects a batch without naming events. Doubled by
   * each success, up to `largestBatch`.
   */
  batchLimit = largestBatch;
  /** Number of rejected batches that the TV has split, or from which it has dropped events. */
  repairs = 0;
  /** Whether an orderly stop was requested. */
  isStopping = false;
  /** Whether playback and the network loop run. They end together. */
  isPlaying = false;
  readonly showNotifier = new WakeUp();
  readonly networkNotifier = new WakeUp();
  readonly changesNotifier = new WakeUp();
  /** Fetches to make at once, because an answer for changes named new content. */
  readonly due = new Set<FetchOperation>();
  readonly #switches = new PlaylistSwitches();
  readonly #random: Random;
  #bound: { client: DeviceClient; id: string } | undefined;
  #phase: PlayerPhase = 'unpaired';
  #calls: readonly AbortController[] = [];

  constructor(options: PlayerOptions) {
    const {
      observer = noObserver,
      random = systemRandom,
      memory = ramMemory(),
      clock = systemClock,
      speed = 1,
    } = options;
    this.options = options;
    this.reloadId = options.reloadId;
    this.observer = observer;
    this.clock = clock;
    this.stage = options.stage ?? timerStage(clock);
    // With infinite speed, one second of the service counts as one simulated second.
    this.speed = Number.isFinite(speed) ? speed : 1;
    this.#random = random;
    this.record = new SavedPlayerState(memory, (work) => this.hold(work));
  }

  get state(): PlayerHead {
    return this.record.head;
  }

  /** The playlist that holds now. `undefined` without a playlist, and after its end. */
  get present(): Present | undefined {
    const { playlist } = this.state;
    return playlist && this.#switches.at(playlist, this.clock.now(), this.speed);
  }

  /** Time for which something was drawn over the stage, in milliseconds. */
  get coveredMs(): number {
    const { identity, coveredBeforeMs, clock } = this;
    return coveredBeforeMs + (identity ? Math.max(0, clock.now() - identity.sinceMs) : 0);
  }

  /** Whether the power is cut. The TV then sends and saves nothing any more. */
  get isCut(): boolean {
    return this.record.isCut;
  }

  /** Whether the TV plays with a key, and neither an orderly stop nor a power cut has begun. */
  get isLive(): boolean {
    return this.isPlaying && !this.isEnding && this.state.binding !== undefined;
  }

  get isEnding(): boolean {
    return this.isStopping || this.isCut;
  }

  get phase(): PlayerPhase {
    if (!this.state.binding) return this.isRegistering ? 'registering' : 'unpaired';
    if (!this.reached) return 'offline';
    return this.showing ? 'playing' : 'dark';
  }

  /**
   * Returns the client with the device key, and the id for the paths of its requests. Throws
   * `not_registered` without a key.
   */
  get bound(): { client: DeviceClient; id: string } {
    const { binding } = this.state;
    if (!binding) throw new SignageError('not_registered', 'The player is not registered yet.');
    this.#bound ??= { client: this.options.client.withKey(binding.apiKey), id: binding.screenId };
    return this.#bound;
  }

  /**
   * Replaces or removes the binding. `id` is used in the paths of requests. Default: the screen id.
   */
  rebind(binding: PlayerBinding | undefined, id = binding?.screenId): void {
    this.record.change({ binding });
    this.#bound = undefined;
    if (binding && id !== undefined) this.bound.id = id;
  }

  /** Saves without waiting. Used for changes that need not be durable before the TV continues. */
  saveInBackground(): void {
    this.record.save().catch((error) => this.fail(error));
  }

  /** Runs work that takes no simulated time, such as a request. */
  hold<T>(work: () => Promise<T>): Promise<T> {
    return this.clock.hold ? this.clock.hold(work) : work();
  }

  fail(error: unknown): void {
    if (!hasCode(error, 'interrupted')) this.observer.onFailure?.(error);
  }

  reportAnswer(answer: PlayerAnswer): void {
    this.answers[answer.operation] = answer;
    // A proxy may cut off a held request although the service can be reached.
    const isCutHold = answer.operation === 'getDeviceChanges' && answer.status === undefined;
    if (!isCutHold) this.reached = answer.code !== 'unreachable';
    this.observer.onAnswer?.(answer);
    this.reportPhase();
    this.changesNotifier.notify();
  }

  /** Reports the phase to the observer if it has changed. */
  reportPhase(): void {
    const { phase } = this;
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.observer.onPhase?.(phase);
  }

  /**
   * Makes a call that a power cut aborts. Each call has its own short-lived signal. One signal for
   * the life of a simulated TV would take a tenth of the TV's RAM.
   */
  async abortable<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.isCut) throw interrupted();
    const call = new AbortController();
    this.#calls = [...this.#calls, call];
    try {
      return await send(call.signal);
    } finally {
      this.#calls = this.#calls.filter((one) => one !== call);
    }
  }

  /** Cuts the power: stops everything at once. */
  cut(): void {
    this.record.isCut = true;
    for (const call of this.#calls) call.abort();
    this.notifyAll();
  }

  /** Ends playback and the network loop together. */
  endPlaying(): void {
    this.isPlaying = false;
    this.notifyAll();
  }

  stop(): void {
    this.isStopping = true;
    this.notifyAll();
  }

  /** Wakes all waiting loops. */
  notifyAll(): void {
    this.showNotifier.notify();
    this.networkNotifier.notify();
    this.changesNotifier.notify();
  }

  /** Makes the network loop fetch at once. A fetch that waits after a failure keeps its delay. */
  makeDue(operation: FetchOperation): void {
    this.due.add(operation);
    this.networkNotifier.notify();
  }

  /** Returns a random number from 0 to just below 1. */
  randomFraction(): number {
    const [high = 0, low = 0] = this.#random(2);
    return (high * 256 + low) / 65_536;
  }

  makeIdempotencyKey(): string {
    return randomHex(this.#random, 16);
  }

  intervalMs(name: keyof typeof defaultIntervals): number {
    const minutes = this.state.config?.[name];
    const { min, max } = intervalRange;
    return (
      minuteMs *
      (Number.isFinite(minutes)
        ? Math.min(max, Math.max(min, minutes as number))
        : defaultIntervals[name])
    );
  }
}
