import { type Clock, hourMs, minuteMs } from '../../domain/clock.ts';
import type { GuessCounter } from '../../domain/records/pairing-code.ts';
import type { Store } from '../../store/store.ts';
import { sourceOf } from './guess-source.ts';

/** Time for which a source stays trusted after the last successful use of a credential from it. */
const trustMs = 24 * hourMs;
/**
 * Limit of tenants that trust one source. The tenants with the most recent use are kept. The limit
 * is low, because one guess can hit a code of any of these tenants.
 */
const maxTenants = 8;
const batchSize = 100;

const never = Number.NEGATIVE_INFINITY;

/**
 * Minimum interval between two writes of the same record to the store, where other instances read
 * it.
 */
const syncIntervalMs = hourMs;
/**
 * Minimum interval after which a further use of a source moves it to the end of the eviction order.
 */
const reorderIntervalMs = minuteMs;
/** Limit of remembered sources. The least recently used one is evicted. */
const maxSources = 100_000;
/**
 * Limit of cached parsed addresses. Addresses are cached, because parsing one takes longer than
 * checking a key.
 */
const maxAddresses = 10_000;

/**
 * Remembers the sources from which tokens and device keys of a tenant were used successfully
 * (docs/protocol.md §3.5).
 */
export interface TrustedSources {
  /**
   * Records that a credential of the tenant was used successfully from an address. An unknown
   * address is never trusted.
   */
  remember(address: string | null, tenantId: string, nowMs?: number): void;
  /**
   * Returns at most eight tenants that trust a source, the latest first. Each has a credential that
   * was used successfully from the source within 24 hours. `stored` is the counter of the source in
   * the store, and `nowMs` the time of the store.
   */
  of(source: string, stored: GuessCounter | undefined, nowMs: number): readonly string[];
  /** Like `of`, with the counter and the time of the store. */
  trusting(source: string): Promise<readonly string[]>;
}

/**
 * Combines the records in the store, which come from all instances, with the more recent records of
 * this instance.
 */
export function makeTrustedSources(
  store: Pick<Store, 'updateGuessCounters'>,
  clock: Clock,
): TrustedSources {
  const sources = new Map<string, Map<string, TrustRecord>>();
  const sourceOfAddress = new Map<string, string>();
  const sync = makeTrustedSourceSync(store);

  function cachedSourceOf(address: string): string {
    const cached = sourceOfAddress.get(address);
    if (cached !== undefined) return cached;
    if (sourceOfAddress.size >= maxAddresses) sourceOfAddress.clear();
    const source = sourceOf(address);
    sourceOfAddress.set(address, source);
    return source;
  }

  /**
   * Returns the record, which it creates if missing. At most once a minute, marks its source as the
   * most recently used one.
   */
  function use(source: string, tenantId: string, nowMs: number): TrustRecord {
    const known = sources.get(source)?.get(tenantId);
    if (known && Math.abs(nowMs - known.workedAt) < reorderIntervalMs) return known;
    const records = sources.get(source) ?? new Map<string, TrustRecord>();
    const record = known ?? { source, tenantId, workedAt: never, syncedAt: never };
    sources.delete(source);
    sources.set(source, records.set(tenantId, record));
    if (sources.size > maxSources) sources.delete(sources.keys().next().value as string);
    return record;
  }

  function of(source: string, stored: GuessCounter | undefined, nowMs: number): readonly string[] {
    const workedAtOf = new Map(currentTrust(stored, nowMs));
    for (const [tenantId, { workedAt }] of sources.get(source) ?? []) {
      if (Math.abs(clock.now() - workedAt) < trustMs)
        workedAtOf.set(tenantId, Math.max(workedAt, workedAtOf.get(tenantId) ?? 0));
    }
    return latestTenants(workedAtOf).map(([tenantId]) => tenantId);
  }

  return {
    of,
    trusting: (source) =>
      store.updateGuessCounters([source], (counters, nowMs) => ({
        attempts: counters,
        result: of(source, counters[0], nowMs),
      })),
    remember(address, tenantId, nowMs = clock.now()) {
      if (address === null) return;
      const record = use(cachedSourceOf(address), tenantId, nowMs);
      record.workedAt = nowMs;
      if (Math.abs(record.workedAt - record.syncedAt) >= syncIntervalMs) sync(record);
    },
  };
}

/** Record that a tenant trusts a source. */
interface TrustRecord {
  source: string;
  tenantId: string;
  /** Time at which a credential of the tenant was last used successfully from the source. */
  workedAt: number;
  /** Time at which the record was last queued for the store. */
  syncedAt: number;
}

type TenantTrust = readonly [tenantId: string, workedAt: number];

/** Returns the tenants whose stored trust in a source has not expired. */
function currentTrust(stored: GuessCounter | undefined, nowMs: number): TenantTrust[] {
  return Object.entries(stored?.vouched ?? {}).filter(
    ([, workedAt]) => Math.abs(nowMs - workedAt) < trustMs,
  );
}

function latestTenants(trust: Iterable<TenantTrust>): TenantTrust[] {
  return [...trust].sort(([, one], [, other]) => other - one).slice(0, maxTenants);
}

/**
 * Returns a function that writes records to the store in batches, in the background. If a write
 * fails, its records are written again at their next use.
 */
function makeTrustedSourceSync(
  store: Pick<Store, 'updateGuessCounters'>,
): (record: TrustRecord) => void {
  const pending = new Set<TrustRecord>();
  let isRunning = false;

  async function writeBatch(records: readonly TrustRecord[]): Promise<void> {
    const sources = [...new Set(records.map(({ source }) => source))];
    try {
      await store.updateGuessCounters(sources, (stored, nowMs) => ({
        attempts: stored.map((counter, index) =>
          records
            .filter(({ source }) => source === sources[index])
            .reduce(addTrust(nowMs), counter),
        ),
        result: undefined,
      }));
    } catch {
      for (const record of records) record.syncedAt = never;
    }
  }

  async function writeAll(): Promise<void> {
    isRunning = true;
    while (pending.size > 0) {
      const batch = [...pending].slice(0, batchSize);
      for (const record of batch) pending.delete(record);
      await writeBatch(batch);
    }
    isRunning = false;
  }

  return (record) => {
    record.syncedAt = record.workedAt;
    pending.add(record);
    if (!isRunning) void writeAll();
  };
}

const addTrust =
  (nowMs: number) =>
  (stored: GuessCounter | undefined, { tenantId }: TrustRecord): GuessCounter => {
    const { times = [], waitUntil = 0, waitMs = 0, forgetAt = 0 } = stored ?? {};
    const others = currentTrust(stored, nowMs).filter(([id]) => id !== tenantId);
    const vouched = Object.fromEntries(latestTenants([[tenantId, nowMs], ...others]));
    return { times, waitUntil, waitMs, forgetAt: Math.max(forgetAt, nowMs + trustMs), vouched };
  };
