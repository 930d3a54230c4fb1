import type { SignageError } from '../../domain/error.ts';
import type { Batch, EventInput, Item } from './batch.ts';
import type { PlayerBinding } from './state.ts';

/**
 * What a TV is at. `registering`: a code is being tried. `dark`: bound, with nothing to show. `offline`: bound, and the last call got no answer;
 * it plays on from what it keeps, if that may still be played.
 */
export type PlayerPhase = 'unpaired' | 'registering' | 'playing' | 'dark' | 'offline';

/** Why a TV needs a pairing code. `refused`: the last code was no good, and the error says why. */
export type UnpairedReason = 'new' | 'revoked' | 'orphaned' | 'invalid' | 'refused';

/** The calls of a TV, as the interface names them. */
export type RuntimeOperation =
  | 'registerDevice'
  | 'getPlaylist'
  | 'getDeviceConfig'
  | 'postEvents'
  | 'rotateDeviceKey';

/** How one try of a call ended. */
export interface PlayerAnswer {
  operation: RuntimeOperation;
  /** `undefined` when there was no answer. */
  status: number | undefined;
  /** The code of the error, if it was one. */
  code: string | undefined;
  /** How long it took, and when it ended, by the TV's clock: milliseconds, and Unix epoch milliseconds. */
  ms: number;
  atMs: number;
}

/** Why events were given up without having been acknowledged. */
export type DropReason = 'refused' | 'overflow' | 'unpaired';

/** Is told what a player does, at once. Nothing here may throw. */
export interface PlayerObserver {
  /** An event came into being, and waits to be sent. */
  onEvent?(event: EventInput): void;
  /** Before each try; a repeat has the same batch. */
  onSending?(batch: Batch): void;
  /** The service has stored `received` events of the batch. */
  onAcknowledged?(batch: Batch, received: number): void;
  onDropped?(events: readonly EventInput[], why: DropReason): void;
  onAnswer?(answer: PlayerAnswer): void;
  onPhase?(phase: PlayerPhase): void;
  /** An item is on the screen now; `undefined` when nothing is any more. */
  onShow?(item: Item | undefined): void;
  /** The TV has a key; it is saved already. */
  onBound?(binding: Omit<PlayerBinding, 'apiKey'>): void;
  /** The TV has another key; both are saved already. */
  onRotated?(): void;
  /** The key is refused, and the TV goes back to the one before it. */
  onFallBack?(error: SignageError): void;
  /** The key is lost, for this reason. */
  onUnpaired?(why: UnpairedReason, error: SignageError | undefined): void;
  /** A call or a save failed; the player goes on as the protocol says. */
  onFailure?(error: unknown): void;
}
