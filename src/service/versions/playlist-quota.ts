import { hasCode, SignageError } from '../../domain/error.ts';
import type { Store, Tx } from '../../store/store.ts';
import { moveSuperseded } from './content-upkeep.ts';

/** Items of fewer bytes do not count. They add up to little: each screen has few of them. */
const largeBytes = 64 * 1024;

/** A content whose items were stored. */
interface StoredItems {
  id: string;
  tenantId: string;
  items: string;
}

/** Notes a large content, in the transaction that stores it. Returns whether it is large. */
export async function noteLarge(tx: Tx, { id, tenantId, items }: StoredItems): Promise<boolean> {
  const bytes = Buffer.byteLength(items);
  if (bytes < largeBytes) return false;
  await tx.put('largeContents', { id, tenantId, bytes });
  return true;
}

/**
 * Limits what the large playlists of a tenant take in memory: those that screens have now, and
 * those of schedules and takeovers. Screens with the same items share them.
 */
export class PlaylistQuota {
  readonly #store: Pick<Store, 'write' | 'supersededContents'>;
  readonly #bytes: number;
  #moving: Promise<void> | undefined;

  constructor(store: Pick<Store, 'write' | 'supersededContents'>, bytes: number) {
    this.#store = store;
    this.#bytes = bytes;
  }

  /** Throws `playlist_quota_exceeded` if the tenant has more than it may have. */
  async check(tx: Tx, tenantId: string): Promise<void> {
    const rows = await tx.select('largeContents', 'tenantId', [tenantId]);
    if (rows.reduce((sum, { bytes }) => sum + bytes, 0) <= this.#bytes) return;
    throw new SignageError(
      'playlist_quota_exceeded',
      `The different playlists and schedules of a tenant may take ${this.#bytes} bytes here. Publish shorter ones, or the same one on several screens.`,
    );
  }

  /**
   * Runs a change that may exceed the quota. Playlists that newer ones have just replaced do not
   * count: they are moved out of the way before the change is refused.
   */
  async run<T>(change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } catch (error) {
      if (!hasCode(error, 'playlist_quota_exceeded')) throw error;
    }
    this.#moving ??= moveSuperseded(this.#store).finally(() => {
      this.#moving = undefined;
    });
    await this.#moving;
    return change();
  }
}
