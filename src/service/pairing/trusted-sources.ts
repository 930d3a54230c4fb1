import { type Clock, hourMs } from '../../domain/clock.ts';
import type { GuessCounter } from '../../domain/records/rows.ts';
import type { Store } from '../../store/store.ts';
import { sourceOf } from './guess-source.ts';
import {
  latestTenants,
  makeTrustedSourceSync,
  never,
  standingVouchers,
  trustMs,
  type Use,
} from './trusted-source-sync.ts';

/** Other instances are told of a credential at work this often. */
const tellMs = hourMs;
/** More sources than this are not remembered: the one used least recently goes. */
const mostSources = 100_000;
/** How many addresses are kept taken apart: to do it costs more than to check a key. */
const mostAddresses = 10_000;

/** Remembers from where a tenant's tokens and device keys have worked (docs/protocol.md §3.5). */
export interface TrustedSources {
  /**
   * Notes that a credential of the tenant worked there. An address that is not known is never
   * trusted.
   */
  remember(address: string | null, tenantId: string, nowMs?: number): void;
  /**
   * The tenants of which a credential worked there within 24 hours, the latest first, at most eight. `shared` is what the store remembers of the source,
   * and `nowMs` its time.
   */
  of(source: string, shared: GuessCounter | undefined, nowMs: number): readonly string[];
}

/** Beside what other instances and former ones have told, each knows to the millisecond what it has seen itself. */
export function makeTrustedSources(
  store: Pick<Store, 'updateGuessCounters'>,
  clock: Clock,
): TrustedSources {
  const sources = new Map<string, Map<string, Use>>();
  const sourceOfAddress = new Map<string, string>();
  const tell = makeTrustedSourceSync(store);
  /** The last of `sources`, and where it called from, as requests come one after the other from a site or through a proxy. */
  let latest: Use | undefined;
  let latestAddress: string | null = null;

  function knownSource(address: string): string {
    const known = sourceOfAddress.get(address);
    if (known !== undefined) return known;
    if (sourceOfAddress.size >= mostAddresses) sourceOfAddress.clear();
    const source = sourceOf(address);
    sourceOfAddress.set(address, source);
    return source;
  }

  function putLast(use: Use): void {
    const { source, tenantId } = use;
    const tenants = sources.get(source) ?? new Map<string, Use>();
    sources.delete(source);
    sources.set(source, tenants.set(tenantId, use));
    if (sources.size > mostSources) sources.delete(sources.keys().next().value as string);
    latest = use;
  }

  function useOf(address: string, tenantId: string): Use {
    if (latest?.tenantId === tenantId && address === latestAddress) return latest;
    const source = knownSource(address);
    return (
      sources.get(source)?.get(tenantId) ?? { source, tenantId, workedAt: never, toldAt: never }
    );
  }

  return {
    remember(address, tenantId, nowMs = clock.now()) {
      if (address === null) return;
      const use = useOf(address, tenantId);
      use.workedAt = nowMs;
      if (use !== latest) putLast(use);
      latestAddress = address;
      if (Math.abs(use.workedAt - use.toldAt) >= tellMs) tell(use);
    },
    of(source, shared, nowMs) {
      const latest = new Map(standingVouchers(shared, nowMs));
      const since = clock.now() - trustMs;
      for (const [tenantId, { workedAt }] of sources.get(source) ?? []) {
        if (workedAt > since) latest.set(tenantId, Math.max(workedAt, latest.get(tenantId) ?? 0));
      }
      return latestTenants(latest).map(([tenantId]) => tenantId);
    },
  };
}
