import { dayMs } from '../../domain/clock.ts';
import type { MediaRecord } from '../memory/database.ts';
import type { MediaStore } from './media-store.ts';

/** Cache limits in the config (docs/protocol.md §2.4). */
export interface CachePolicy {
  maxSizeGB: number;
  retentionDays: number;
}

const defaultPolicy: CachePolicy = { maxSizeGB: 10, retentionDays: 7 };
const gigabyte = 1e9;
/** Maximum share of the storage quota for media. The event queue needs some of the rest. */
const quotaShare = 0.8;

/** Returns the storage quota of the origin in bytes. Browsers reveal the quota only over HTTPS. */
export async function storageQuota(): Promise<number | undefined> {
  try {
    return (await navigator.storage?.estimate?.())?.quota;
  } catch {
    return undefined;
  }
}

const positive = (value: unknown, fallback: number) =>
  typeof value === 'number' && value > 0 ? value : fallback;

const sizeOf = (records: readonly MediaRecord[]) =>
  records.reduce((sum, { bytes }) => sum + bytes, 0);

/**
 * Keeps media within the config's limits and the quota. Evicts the least recently used files first.
 * Never evicts a file of the active playlist.
 */
export class MediaBudget {
  readonly #store: MediaStore;
  readonly #now: () => number;
  #policy = defaultPolicy;
  #active: ReadonlySet<string> = new Set();

  constructor(store: MediaStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  setPolicy(policy: Partial<CachePolicy> | undefined): void {
    this.#policy = {
      maxSizeGB: positive(policy?.maxSizeGB, defaultPolicy.maxSizeGB),
      retentionDays: positive(policy?.retentionDays, defaultPolicy.retentionDays),
    };
  }

  /** Sets the files of the active playlist. */
  setActive(urls: ReadonlySet<string>): void {
    this.#active = urls;
  }

  async #limitBytes(): Promise<number> {
    const quota = (await storageQuota()) ?? Number.POSITIVE_INFINITY;
    return Math.min(this.#policy.maxSizeGB * gigabyte, quota * quotaShare);
  }

  /** Returns the evictable files, least recently used first. */
  #evictable(records: readonly MediaRecord[]): MediaRecord[] {
    const others = records.filter(({ url }) => !this.#active.has(url));
    return others.sort((a, b) => a.usedAtMs - b.usedAtMs);
  }

  /**
   * Deletes the least recently used file outside the active playlist. Returns whether there was
   * such a file.
   */
  async evictOne(): Promise<boolean> {
    const [oldest] = this.#evictable(await this.#store.all());
    if (!oldest) return false;
    await this.#store.delete(oldest.url);
    return true;
  }

  /** Makes room for more bytes. Returns whether they fit. If they do not fit, evicts nothing. */
  async makeRoom(bytes: number): Promise<boolean> {
    const limit = (await this.#limitBytes()) - bytes;
    const records = await this.#store.all();
    const evictable = this.#evictable(records);
    let used = sizeOf(records);
    if (used - sizeOf(evictable) > limit) return false;
    for (const file of evictable) {
      if (used <= limit) break;
      await this.#store.delete(file.url);
      used -= file.bytes;
    }
    return true;
  }

  /** Deletes files outside the active playlist that were not used for the retention time. */
  async evictExpired(): Promise<void> {
    const oldestMs = this.#now() - this.#policy.retentionDays * dayMs;
    for (const { url, usedAtMs } of this.#evictable(await this.#store.all()))
      if (usedAtMs < oldestMs) await this.#store.delete(url);
  }
}
