import type { ActivePlaylist, DeviceConfig, EventInput } from '../client/entities.ts';
import type { Batch } from './batch.ts';
import type { QueueChange } from './event-queue.ts';

/**
 * A pending registration. Saved before the first attempt and repeated until the service accepts or
 * rejects it (docs/protocol.md §3.2).
 */
export interface Registering {
  pairingCode: string;
  idempotencyKey: string;
}

/**
 * A pending key rotation. Saved before the first attempt and repeated until its response arrives
 * (docs/protocol.md §2.8).
 */
export interface Rotating {
  idempotencyKey: string;
}

/**
 * The previous key. It may still work after the service has rejected the new key. The new key was
 * then replaced before its first use, or an older backup was restored.
 */
export interface FormerKey {
  apiKey: string;
  /**
   * Set when the TV fell back from this key, because the service rejected it. Prevents another
   * fallback until the current key has worked.
   */
  isRefused?: boolean | undefined;
}

/** The result of a registration. */
export interface PlayerBinding {
  deviceId: string;
  screenId: string;
  tenantId: string;
  /** The device key: a secret. Replaced when the key is rotated. */
  apiKey: string;
}

/** A saved playlist, playable without the service. */
export interface SavedPlaylist {
  answer: ActivePlaylist;
  etag?: string | undefined;
  /**
   * End of validity by the TV's own clock, in Unix epoch milliseconds. The TV's clock may differ
   * from the service's clock.
   */
  validUntilMs: number;
}

/** The saved state of a TV, without its event queue. */
export interface PlayerHead {
  readonly registering?: Registering | undefined;
  readonly binding?: PlayerBinding | undefined;
  readonly rotating?: Rotating | undefined;
  readonly formerKey?: FormerKey | undefined;
  /** Time at which the key came into use, by the TV's own clock, in Unix epoch milliseconds. */
  readonly keySinceMs?: number | undefined;
  readonly config?: DeviceConfig | undefined;
  /** `ETag` of the config. `undefined` until a config is fetched. */
  readonly configTag?: string | undefined;
  readonly playlist?: SavedPlaylist | undefined;
  /**
   * `seq` of the next event (docs/protocol.md §2.5). `undefined`: 1. `null`: the count is unknown
   * or lost, so the TV does not number its events.
   */
  readonly nextSeq?: number | null | undefined;
  /**
   * The pending batch. It is sent again, unchanged and under the same `Idempotency-Key`, until the
   * service accepts or rejects it.
   */
  readonly batch?: Batch | undefined;
}

/**
 * Complete state that survives a power cut, as plain JSON. Immutable: each change replaces the
 * object, so a memory may keep a reference.
 */
export interface PlayerState extends PlayerHead {
  readonly format: 1;
  /** Events that are not in a batch yet, oldest first. */
  readonly queue: readonly EventInput[];
  /** Position of the first event of `queue`. Default: 0. */
  readonly queueStart?: number | undefined;
}

/** Changes since the last saved state. */
export interface StateChange extends QueueChange {
  /** Changed members. A member with the value `undefined` was removed. */
  readonly head: PlayerHead;
}

/**
 * The persistent memory of a player. The player makes one call of `save` or `update` at a time. If
 * the call rejects, the player sends nothing that it must save first, and retries later.
 */
export interface PlayerMemory {
  /** Resolves with the last saved state, or `undefined` without a saved state. */
  load(): Promise<PlayerState | undefined>;
  /**
   * Replaces the state. Resolves once the state is durable. The player does not call it if `update`
   * exists.
   */
  save(state: PlayerState): Promise<void>;
  /**
   * Changes the state atomically. Resolves once the change is durable. `state` returns the whole
   * state, including changes made after the call. After a rejection, the next change contains this
   * change.
   */
  update?(change: StateChange, state: () => PlayerState): Promise<void>;
}

/**
 * Creates a memory in RAM. Pass it to another `Player` to simulate the same TV after a power cut.
 */
export function ramMemory(): PlayerMemory {
  let saved: PlayerState | undefined;
  return {
    load: async () => saved,
    async save(state) {
      saved = state;
    },
  };
}
