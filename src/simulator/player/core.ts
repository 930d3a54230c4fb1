import { interrupted } from '../../client/interrupted.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { minuteMs, type Random, systemClock, systemRandom } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { makeVirtualClock } from '../time/virtual-clock.ts';
import { largestBatch } from './batch.ts';
import { Notifier } from './notifier.ts';
import type {
  PlayerAnswer,
  PlayerObserver,
  PlayerPhase,
  RuntimeOperation,
  UnpairedReason,
} from './observer.ts';
import type { PlayerOptions, Showing } from './options.ts';
import { SavedPlayerState } from './saved-state.ts';
import { type PlayerBinding, type PlayerState, ramMemory } from './state.ts';

const silent: PlayerObserver = {};
/** What a config may say (docs/protocol.md §5.4), and what counts when it says something else. */
const intervalRange = { min: 1, max: 1440 };
const defaultIntervals = { syncIntervalMinutes: 5, heartbeatIntervalMinutes: 1 };

/** What the parts of a player share: what it was made with, what it knows, and how it ends. */
export class PlayerCore {
  readonly options: PlayerOptions;
  readonly observer: PlayerObserver;
  readonly clock: NonNullable<PlayerOptions['clock']>;
  readonly speed: number;
  readonly record: SavedPlayerState;
  /** Why there is no binding. */
  unpaired: { why: UnpairedReason; error: SignageError | undefined } = {
    why: 'new',
    error: undefined,
  };
  showing: Showing | undefined;
  readonly answers: Partial<Record<RuntimeOperation, PlayerAnswer>> = {};
  /** Whether the last call got an answer. */
  reached = true;
  isRegistering = false;
  /** Whether what waits to be sent is to go at once. */
  isUrgent = false;
  /** How many events a batch may hold: fewer after the service found one too large. */
  batchLimit = largestBatch;
  /** How often a refused batch was mended. */
  mends = 0;
  /** Whether an end in good order was asked for. */
  isStopping = false;
  /** Whether it plays and keeps in touch; both end together. */
  isPlaying = false;
  readonly showBell = new Notifier();
  readonly networkBell = new Notifier();
  readonly #random: Random;
  #bound: { client: RuntimeClient; id: string } | undefined;
  #phase: PlayerPhase = 'unpaired';
  #calls: readonly AbortController[] = [];

  constructor(options: PlayerOptions) {
    const { observer = silent, random = systemRandom, memory = ramMemory(), speed = 1 } = options;
    const {
      clock = speed === 1
        ? systemClock
        : makeVirtualClock({ speed, startMs: systemClock.now(), wall: systemClock }),
    } = options;
    this.options = options;
    this.observer = observer;
    this.clock = clock;
    // Where time does not wait at all, a second of the service is one of the TV.
    this.speed = Number.isFinite(speed) ? speed : 1;
    this.#random = random;
    this.record = new SavedPlayerState(memory, (work) => this.hold(work));
  }

  get state(): PlayerState {
    return this.record.state;
  }

  /** Whether the power was cut: nothing is sent or saved any more. */
  get isCut(): boolean {
    return this.record.isCut;
  }

  /** Whether the TV is to go on with what it does: not ended, and with a key. */
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

  /** The client with the key, and the id that its paths name. Throws `not_registered`. */
  get bound(): { client: RuntimeClient; id: string } {
    const { binding } = this.state;
    if (!binding) throw new SignageError('not_registered', 'The player is not registered yet.');
    this.#bound ??= { client: this.options.client.withKey(binding.apiKey), id: binding.screenId };
    return this.#bound;
  }

  /** Takes another binding, or none; `id` is the name to go by, the screen's unless said. */
  rebind(binding: PlayerBinding | undefined, id = binding?.screenId): void {
    this.record.change({ binding });
    this.#bound = undefined;
    if (binding && id !== undefined) this.bound.id = id;
  }

  /** For what need not be durable before the TV goes on. */
  saveSoon(): void {
    this.record.save().catch((error) => this.fail(error));
  }

  /** Does what takes no time of a TV whose clock can stand still. */
  hold<T>(work: () => Promise<T>): Promise<T> {
    return this.clock.hold ? this.clock.hold(work) : work();
  }

  fail(error: unknown): void {
    if (!hasCode(error, 'interrupted')) this.observer.onFailure?.(error);
  }

  tellAnswer(answer: PlayerAnswer): void {
    this.answers[answer.operation] = answer;
    this.reached = answer.code !== 'unreachable';
    this.observer.onAnswer?.(answer);
    this.tellPhase();
  }

  /** Tells of the phase if it is another now. */
  tellPhase(): void {
    const { phase } = this;
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.observer.onPhase?.(phase);
  }

  /** Makes a call that a power cut breaks off. (A signal for each call, for one that waits with each TV would take a tenth of its memory.) */
  async breakable<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.isCut) throw interrupted();
    const call = new AbortController();
    this.#calls = [...this.#calls, call];
    try {
      return await send(call.signal);
    } finally {
      this.#calls = this.#calls.filter((one) => one !== call);
    }
  }

  /** Ends everything at once. */
  cut(): void {
    this.record.isCut = true;
    for (const call of this.#calls) call.abort();
    this.ringAll();
  }

  /** What plays and what keeps in touch end together. */
  endPlaying(): void {
    this.isPlaying = false;
    this.ringAll();
  }

  /** Asks for an end in good order. */
  stop(): void {
    this.isStopping = true;
    this.ringAll();
  }

  /** Wakes all that waits, to look again. */
  ringAll(): void {
    this.showBell.ring();
    this.networkBell.ring();
  }

  /** From 0 to just below 1. */
  chance(): number {
    const [high = 0, low = 0] = this.#random(2);
    return (high * 256 + low) / 65_536;
  }

  makeKey(): string {
    return Buffer.from(this.#random(16)).toString('hex');
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
