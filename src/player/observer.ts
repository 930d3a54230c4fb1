import type { ActivePlaylist, EventInput, PlaylistItem } from '../client/entities.ts';
import type { ScreenPlace, SignageError } from '../domain/error.ts';
import type { Batch } from './batch.ts';
import type { PlayerBinding } from './state.ts';

/**
 * The phase of a TV. `unpaired`: without a key. `registering`: trying a pairing code. `playing`:
 * bound and showing an item. `dark`: bound, with nothing to show. `offline`: bound, and the last
 * call got no response. An offline TV keeps playing its saved playlist while the playlist is valid.
 */
export type PlayerPhase = 'unpaired' | 'registering' | 'playing' | 'dark' | 'offline';

/**
 * Reason why a TV needs a pairing code. `new`: never paired. `revoked`, `orphaned`, `invalid`: the
 * service rejected the key for this reason. `refused`: the last code was rejected, and the error
 * says why.
 */
export type UnpairedReason = 'new' | 'revoked' | 'orphaned' | 'invalid' | 'refused';

/** The operation ids of a TV's calls. */
export type RuntimeOperation =
  | 'registerDevice'
  | 'getPlaylist'
  | 'getDeviceConfig'
  | 'getDeviceChanges'
  | 'postEvents'
  | 'rotateDeviceKey';

/** The outcome of one attempt of a call. */
export interface PlayerAnswer {
  operation: RuntimeOperation;
  /** HTTP status. `undefined` if there was no response. */
  status: number | undefined;
  /** Error code. `undefined` after a success. */
  code: string | undefined;
  /** Duration in milliseconds by the TV's clock. */
  ms: number;
  /** End of the call by the TV's clock, in Unix epoch milliseconds. */
  atMs: number;
}

/**
 * Reason why events were dropped without an acknowledgement. `refused`: the service rejected them.
 * `overflow`: above `queueLimit`, or older than the retention time of the config. `unpaired`: the
 * TV lost its key.
 */
export type DropReason = 'refused' | 'overflow' | 'unpaired';

/** Who a TV is, as it is drawn over the picture (docs/protocol.md §2.9). */
export interface TvIdentity {
  /** Names of the venue and the screen. Empty if the service gave none. */
  venue: string;
  screen: string;
  /** Last four characters of the device id. */
  device: string;
}

/** Synchronous callbacks for the actions of a player. They must not throw. */
export interface PlayerObserver {
  /** An event was queued. */
  onEvent?(event: EventInput): void;
  /** Called before each attempt to send a batch. A retry passes the same batch. */
  onSending?(batch: Batch): void;
  /** The service acknowledged the batch and stored `received` events. */
  onAcknowledged?(batch: Batch, received: number): void;
  /** Events were dropped. */
  onDropped?(events: readonly EventInput[], why: DropReason): void;
  /** An attempt of a call ended. Not called for an aborted attempt. */
  onAnswer?(answer: PlayerAnswer): void;
  /** The phase changed. */
  onPhase?(phase: PlayerPhase): void;
  /** A playlist was loaded or fetched. `undefined` if the TV has no playlist. */
  onPlaylist?(playlist: ActivePlaylist | undefined): void;
  /** The service has no playlist for the screen. `undefined`: it gave no names. */
  onNoPlaylist?(screen: ScreenPlace | undefined): void;
  /** The player passed an item to the stage. `undefined` if the player shows nothing any more. */
  onShow?(item: PlaylistItem | undefined): void;
  /**
   * Draw this over the picture now, or remove it. The time for which it is drawn counts for no
   * item. Without this callback, the player ignores that the TV is to be identified.
   */
  onIdentify?(identity: TvIdentity | undefined): void;
  /**
   * Load the player anew: stop it, and start another one with this id as `reloadId`. Without this
   * callback, the player ignores it.
   */
  onReload?(reloadId: string): void;
  /** The TV was paired. The key is already saved. */
  onBound?(binding: Omit<PlayerBinding, 'apiKey'>): void;
  /** The key was rotated. The new and the previous key are already saved. */
  onRotated?(): void;
  /** The key was rejected, and the TV fell back to the previous key. */
  onFallBack?(error: SignageError): void;
  /** The TV lost its key. */
  onUnpaired?(why: UnpairedReason, error: SignageError | undefined): void;
  /**
   * A call, a save or the stage failed, or the service rejected a pairing code. The player retries
   * if the protocol allows it.
   */
  onFailure?(error: unknown): void;
}
