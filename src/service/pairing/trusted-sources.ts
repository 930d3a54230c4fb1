import { type Clock, hourMs } from '../../domain/clock.ts';
import type { GuessCounter } from '../../domain/records/rows.ts';
import type { Store } from '../../store/store.ts';
import { sourceOf } from './guess-source.ts';
import {
  currentTrust,
  latestTenants,
  makeTrustedSourceSync,
  never,
  type TrustRecord,
  trustMs,
} from './trusted-source-sync.ts';

/** Interval at which a record in use is synchronised to other instances. */
const syncIntervalMs = hourMs;
/** Limit of remembered sources. The least recently used one is evicted. */
const maxSources = 100_000;
/** Limit of cached parsed addresses: parsing one takes longer than checking a key. */
const maxAddresses = 10_000;

/** Remembers where tokens and device keys of a tenant have worked (docs/protocol.md §3.5). */
export interface TrustedSources {
  /** Records that a credential of the tenant worked there. An unknown address is never trusted. */
  remember(address: string | null, tenantId: string, nowMs?: number): void;
  /**
   * Returns the tenants that trust a source: a credential of theirs worked there within 24 hours.
   * The latest come first, at most eight. `stored` is the counter of the source in the store, and
   * `nowMs` the time of the store.
   */
  of(source: string, stored: GuessCounter | undefined, nowMs: number): readonly string[];
}

/** Combines the store's records, from all instances, with the more recent ones of this instance. */
export function makeTrustedSources(
  store: Pick<Store, 'updateGuessCounters'>,
  clock: Clock,
): TrustedSources {
  const sources = new Map<string, Map<string, TrustRecord>>();
  const sourceOfAddress = new Map<string, string>();
  const sync = makeTrustedSourceSync(store);
  /**
   * The most recent record and its address. Consecutive requests often come from the same site or
   * proxy.
   */
  let latest: TrustRecord | undefined;
  let latestAddress: string | null = null;

  function cachedSourceOf(address: string): string {
    const cached = sourceOfAddress.get(address);
    if (cached !== undefined) return cached;
    if (sourceOfAddress.size >= maxAddresses) sourceOfAddress.clear();
    const source = sourceOf(address);
    sourceOfAddress.set(address, source);
    return source;
  }

  function moveToEnd(record: TrustRecord): void {
    const { source, tenantId } = record;
    const tenants = sources.get(source) ?? new Map<string, TrustRecord>();
    sources.delete(source);
    sources.set(source, tenants.set(tenantId, record));
    if (sources.size > maxSources) sources.delete(sources.keys().next().value as string);
    latest = record;
  }

  function recordOf(address: string, tenantId: string): TrustRecord {
    if (latest?.tenantId === tenantId && address === latestAddress) return latest;
    const source = cachedSourceOf(address);
    return (
      sources.get(source)?.get(tenantId) ?? { source, tenantId, workedAt: never, syncedAt: never }
    );
  }

  return {
    remember(address, tenantId, nowMs = clock.now()) {
      if (address === null) return;
      const record = recordOf(address, tenantId);
      record.workedAt = nowMs;
      if (record !== latest) moveToEnd(record);
      latestAddress = address;
      if (Math.abs(record.workedAt - record.syncedAt) >= syncIntervalMs) sync(record);
    },
    of(source, stored, nowMs) {
      const workedAtOf = new Map(currentTrust(stored, nowMs));
      const since = clock.now() - trustMs;
      for (const [tenantId, { workedAt }] of sources.get(source) ?? []) {
        if (workedAt > since)
          workedAtOf.set(tenantId, Math.max(workedAt, workedAtOf.get(tenantId) ?? 0));
      }
      return latestTenants(workedAtOf).map(([tenantId]) => tenantId);
    },
  };
}
