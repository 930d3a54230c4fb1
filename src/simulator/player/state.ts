import type { CallAnswer } from '../../client/call.ts';
import type { Batch, EventInput, Playlist } from './batch.ts';

export type PlayerConfig = CallAnswer<'getDeviceConfig'>;

/** A registration that is under way: both are kept before the first try, and repeated until it is settled (docs/protocol.md §3.2). */
interface Registering {
  pairingCode: string;
  idempotencyKey: string;
}

/** A change of the key that is under way: kept before the first try, and repeated until its answer is there (docs/protocol.md §2.8). */
interface Rotating {
  idempotencyKey: string;
}

/** The key before the one in use, which may work again: when the new one is replaced before its first use, or a backup of the service is put back. */
interface FormerKey {
  apiKey: string;
  /** Set when it is this one that was refused last: then there is no other to go back to. */
  isRefused?: boolean | undefined;
}

/** What registration gave. */
export interface PlayerBinding {
  deviceId: string;
  screenId: string;
  tenantId: string;
  /** The device key: a secret. Another one after a change of the key. */
  apiKey: string;
}

/** A playlist as it is kept to be played without the service too. */
interface KeptPlaylist {
  answer: Playlist;
  etag?: string | undefined;
  /** Until when it may be played, by the TV's own clock, which need not be that of the service; Unix epoch milliseconds. */
  validUntilMs: number;
}

/** All that survives a power cut, as plain JSON. It is never changed, only replaced: to keep it is to keep a reference. */
export interface PlayerState {
  readonly format: 1;
  readonly registering?: Registering | undefined;
  readonly binding?: PlayerBinding | undefined;
  readonly rotating?: Rotating | undefined;
  readonly formerKey?: FormerKey | undefined;
  /** Since when the key is in use, by the TV's own clock; Unix epoch milliseconds. */
  readonly keySinceMs?: number | undefined;
  readonly config?: PlayerConfig | undefined;
  readonly configTag?: string | undefined;
  readonly playlist?: KeptPlaylist | undefined;
  /** Events that are in no batch yet, oldest first. */
  readonly queue: readonly EventInput[];
  /** The batch that is under way: sent again, as it is and under its key, until the service has spoken. */
  readonly batch?: Batch | undefined;
}

/**
 * Where a player keeps what must survive a power cut. It calls one at a time. When `save` fails, nothing is sent that should have been saved
 * before, and the player tries again later.
 */
export interface PlayerMemory {
  /** What was saved last; `undefined` when nothing ever was. */
  load(): Promise<PlayerState | undefined>;
  /** Resolves when it is durable. */
  save(state: PlayerState): Promise<void>;
}

/** A memory that lives as long as the program: hand it to the next `Player`, and that is the same TV after a power cut. */
export function ramMemory(): PlayerMemory {
  let saved: PlayerState | undefined;
  return {
    load: async () => saved,
    async save(state) {
      saved = state;
    },
  };
}
