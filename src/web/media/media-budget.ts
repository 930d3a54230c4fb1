import { dayMs } from '../../domain/clock.ts';
import type { MediaRecord } from '../memory/database.ts';
import type { KeptMedia } from './media-store.ts';

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

/**
 * Keeps media within the config's limits and the quota. Evicts the least recently used files first.
 * Never evicts a file of the active playlist.
 */
export class MediaBudget {
  readonly #store: KeptMedia;
  readonly #now: () => number;
  #policy = defaultPolicy;
  #active: ReadonlySet<string> = new Set();
  /** Sizes of the files that are being downloaded, in bytes, by URL. */
  readonly #reserved = new Map<string, number>();

  constructor(store: KeptMedia, now: () => number) {
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

  #sizeOf(records: readonly MediaRecord[]): number {
    return records.reduce(
      (sum, { url, bytes }) => sum + Math.max(bytes, this.#reserved.get(url) ?? 0),
      0,
    );
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
    await this.#evict(oldest);
    return true;
  }

  /**
   * Reserves room for a file of at least this size, including its stored parts. Returns whether it
   * fits. If it does not fit, evicts nothing.
   */
  async reserve(url: string, bytes: number): Promise<boolean> {
    const size = Math.max(bytes, this.#reserved.get(url) ?? 0);
    const limit = (await this.#limitBytes()) - size;
    const others = (await this.#store.all()).filter((record) => record.url !== url);
    const evictable = this.#evictable(others);
    let used = this.#sizeOf(others);
    if (used - this.#sizeOf(evictable) > limit) return false;
    this.#reserved.set(url, size);
    for (const file of evictable) {
      if (used <= limit) break;
      used -= this.#sizeOf([file]);
      await this.#evict(file);
    }
    return true;
  }

  /** Returns whether room is reserved for a file. Its eviction ends the reservation. */
  isReserved(url: string): boolean {
    return this.#reserved.has(url);
  }

  /** Ends the reservation of a file. */
  release(url: string): void {
    this.#reserved.delete(url);
  }

  async #evict({ url }: MediaRecord): Promise<void> {
    this.#reserved.delete(url);
    await this.#store.delete(url);
  }

  /** Deletes files outside the active playlist that were not used for the retention time. */
  async evictExpired(): Promise<void> {
    const oldestMs = this.#now() - this.#policy.retentionDays * dayMs;
    for (const file of this.#evictable(await this.#store.all()))
      if (file.usedAtMs < oldestMs) await this.#evict(file);
  }
}
