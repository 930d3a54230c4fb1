import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { Clock, Random } from '../../domain/clock.ts';
import type { SignageError } from '../../domain/error.ts';
import type { VirtualClock } from '../time/virtual-clock.ts';
import type { DeviceInfoInput } from '../tv/device-info.ts';
import type { Batch, Item, Playlist } from './batch.ts';
import type {
  PlayerAnswer,
  PlayerObserver,
  PlayerPhase,
  RuntimeOperation,
  UnpairedReason,
} from './observer.ts';
import type { PlayerConfig, PlayerMemory } from './state.ts';

export interface PlayerOptions {
  /** Where the service is; without a key, for the player brings its own. The player makes each try by itself: the client's retries are not used. */
  client: RuntimeClient;
  deviceInfo: DeviceInfoInput;
  /** In the program's own memory unless given. */
  memory?: PlayerMemory;
  /** Where the next pairing code comes from: at the first start, after a refused code, and when the key is lost. `undefined`: there is none, and `run` ends. */
  nextCode?(why: UnpairedReason, error: SignageError | undefined): Promise<string | undefined>;
  observer?: PlayerObserver;
  /**
   * The TV's own clock. It may be wrong, and need not be the client's, by which time-outs are counted. One that has `hold` stands still while a
   * call, a save or `nextCode` is under way.
   */
  clock?: Clock & Partial<Pick<VirtualClock, 'hold'>>;
  random?: Random;
  /**
   * How many seconds of the TV go by in one of the service: `Retry-After` and the life of a playlist are in the service's. 1 unless given. Without
   * a `clock` the TV gets one that is so fast; with `Infinity` it waits for nothing but answers.
   */
  speed?: number;
  /** How long an event may wait for others before it is sent; until the next heartbeat unless given. */
  reportAfterSeconds?: number;
  /** How often the key is changed for a new one, by the TV's clock; never unless given, once a second at most. */
  rotateEveryMs?: number | undefined;
  /** How many unsent events are kept at most; 10,000 unless given. */
  queueLimit?: number;
}

/** Why `run` ended: `stop` was called, the signal aborted, or there is no key and no code. */
export interface PlayerEnd {
  reason: 'stopped' | 'aborted' | 'unpaired';
  /** Of `unpaired`: why a code is needed, and what the service said. */
  why?: UnpairedReason;
  error?: SignageError | undefined;
}

/** What is on the screen. */
export interface Showing {
  item: Item;
  /** Its place among the items, from 0. */
  place: number;
  sinceMs: number;
}

/** A player at one moment. Times are the TV's, Unix epoch milliseconds. */
export interface PlayerView {
  phase: PlayerPhase;
  /** Of the binding; `undefined` without one. */
  deviceId: string | undefined;
  screenId: string | undefined;
  tenantId: string | undefined;
  config: PlayerConfig | undefined;
  playlist: Playlist | undefined;
  /** Until when the playlist may be played. */
  validUntilMs: number | undefined;
  showing: Showing | undefined;
  /** Events that are not acknowledged yet, those of the batch included. */
  queued: number;
  /** The batch that is under way. */
  batch: Batch | undefined;
  /** The last answer of each kind. */
  answers: Readonly<Partial<Record<RuntimeOperation, PlayerAnswer>>>;
}
