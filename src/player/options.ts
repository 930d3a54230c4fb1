import type { DeviceClient } from '../client/device-client.ts';
import type {
  ActivePlaylist,
  DeviceConfig,
  DeviceInfoInput,
  PlaylistItem,
} from '../client/entities.ts';
import type { Clock, Random } from '../domain/clock.ts';
import type { SignageError } from '../domain/error.ts';
import type { Batch } from './batch.ts';
import type {
  PlayerAnswer,
  PlayerObserver,
  PlayerPhase,
  RuntimeOperation,
  UnpairedReason,
} from './observer.ts';
import type { Stage } from './stage.ts';
import type { PlayerMemory } from './state.ts';

export interface PlayerClock extends Clock {
  /**
   * Stops the clock while the work runs, so the response time of the service does not count as
   * simulated time. Without `hold`, the clock never stops.
   */
  hold?<T>(work: () => Promise<T>): Promise<T>;
}

/** Options of a `Player`. */
export interface PlayerOptions {
  /**
   * A client of the service without a key. The player adds the device key. The player makes each
   * attempt itself, so the client's retries are not used.
   */
  client: DeviceClient;
  /** The device info that the TV sends when it registers. */
  deviceInfo: DeviceInfoInput;
  /** Persistent memory of the TV. Default: `ramMemory()`. */
  memory?: PlayerMemory;
  /**
   * Returns the next pairing code. Called for a TV without a key: at the start, after a rejected or
   * withdrawn code, and after the loss of the key. `undefined` ends `run`. Default: no codes.
   */
  nextCode?(why: UnpairedReason, error: SignageError | undefined): Promise<string | undefined>;
  /**
   * Stage on which the player shows items. Default: a stage without a screen, on which each item
   * only takes its time.
   */
  stage?: Stage;
  /** Callbacks for the actions of the player. Default: no callbacks. */
  observer?: PlayerObserver;
  /**
   * The TV's own clock. It may be wrong, and may differ from the client's clock, which measures
   * timeouts. A clock with `hold` stops while a call, a save or `nextCode` is pending. Default: the
   * system clock.
   */
  clock?: PlayerClock;
  /** Source of idempotency keys and jitter. Default: the platform's CSPRNG. */
  random?: Random;
  /**
   * Simulated seconds per second of the service, used for `Retry-After` and the validity of a
   * playlist. Default: 1.
   */
  speed?: number;
  /**
   * Maximum time that an event is queued before it is sent, in seconds. Default: until the next
   * heartbeat.
   */
  reportAfterSeconds?: number;
  /**
   * Interval of key rotation by the TV's clock, in milliseconds. At least 1,000; lower values are
   * raised. Default: never.
   */
  rotateEveryMs?: number | undefined;
  /**
   * The id that `onReload` got before this player was loaded anew. Its first `app_started` names
   * it.
   */
  reloadId?: string | undefined;
  /**
   * Maximum `waitSeconds` of requests for changes, 50 to 600. The player begins with 50, and
   * doubles it while nothing cuts its requests. Default: 120.
   */
  maxWaitSeconds?: number | undefined;
  /**
   * Maximum number of unsent events, up to 200,000. Beyond it, the player drops the oldest events.
   * Default: 10,000.
   */
  queueLimit?: number;
}

/**
 * Reason why `run` ended. `stopped`: `stop` was called or `forMs` elapsed. `aborted`: the signal
 * aborted. `unpaired`: there is neither a key nor a code.
 */
export interface PlayerEnd {
  reason: 'stopped' | 'aborted' | 'unpaired';
  /** With `unpaired`: the reason why the TV needs a code. */
  why?: UnpairedReason;
  /** With `unpaired`: the error of the service, if any. */
  error?: SignageError | undefined;
}

/** The item that the TV shows. */
export interface Showing {
  item: PlaylistItem;
  /** Index in the playlist, from 0. */
  place: number;
  /**
   * Time at which the player passed the item to the stage, by the TV's clock, in Unix epoch
   * milliseconds.
   */
  sinceMs: number;
}

/** The state of a player at one moment. Times are by the TV's clock, in Unix epoch milliseconds. */
export interface PlayerView {
  phase: PlayerPhase;
  /** Ids of the binding. `undefined` while unpaired. */
  deviceId: string | undefined;
  screenId: string | undefined;
  tenantId: string | undefined;
  config: DeviceConfig | undefined;
  /** The playlist, with the items that hold now. */
  playlist: ActivePlaylist | undefined;
  /**
   * Time until which these items hold. `Infinity` if no end is known. `undefined` without a
   * playlist.
   */
  validUntilMs: number | undefined;
  showing: Showing | undefined;
  /** Number of events not acknowledged yet, including the events of the pending batch. */
  queued: number;
  /** The batch that the service has not acknowledged yet. `undefined` without such a batch. */
  batch: Batch | undefined;
  /** Last outcome of each operation. */
  answers: Readonly<Partial<Record<RuntimeOperation, PlayerAnswer>>>;
}
