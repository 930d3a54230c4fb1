import { hourMs } from '../../domain/clock.ts';
import type { GuessCounter } from '../../domain/records/rows.ts';
import type { Store } from '../../store/store.ts';

/** How long a source stays trusted after a credential worked there. */
export const trustMs = 24 * hourMs;
/**
 * Limit of tenants that trust one source; those seen last are kept. A guess is a try at the codes
 * of all of them.
 */
const maxTenants = 8;
const batchSize = 100;

export const never = Number.NEGATIVE_INFINITY;

/** Trust of a tenant in a source. */
export interface TrustRecord {
  source: string;
  tenantId: string;
  /** When a credential of the tenant last worked there. */
  workedAt: number;
  /** When it was last synchronised to the store. */
  syncedAt: number;
}

type TenantTrust = readonly [tenantId: string, workedAt: number];

/** Returns the tenants that trust a source according to the store, without expired ones. */
export function currentTrust(stored: GuessCounter | undefined, nowMs: number): TenantTrust[] {
  return Object.entries(stored?.vouched ?? {}).filter(
    ([, workedAt]) => Math.abs(nowMs - workedAt) < trustMs,
  );
}

export function latestTenants(trust: Iterable<TenantTrust>): TenantTrust[] {
  return [...trust].sort(([, one], [, other]) => other - one).slice(0, maxTenants);
}

/**
 * Returns a function that writes records to the store in batches, in the background. A failed
 * record is written again at its next use.
 */
export function makeTrustedSourceSync(
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
