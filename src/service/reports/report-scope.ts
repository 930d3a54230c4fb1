import { dayMs } from '../../domain/clock.ts';
import type { ReportQuery } from '../../domain/records/report.ts';
import type { Store } from '../../store/store.ts';
import type { ServiceDependencies, TenantPrincipal } from '../context.ts';
import type { PlayFilter } from './play-totals.ts';

/** How far the clock of a TV may be ahead, so that its plays are listed by their own days. */
export const aheadMs = 2 * dayMs;
/** Screens that are read at a time, to be selected. */
const screensPerPage = 200;

/** Returns the time before which retention has deleted events, in epoch milliseconds. */
export async function purgedBefore(store: Pick<Store, 'audit'>): Promise<number> {
  const query = { tenantIds: [null], action: 'retention.purge', limit: 1 } as const;
  const [purge] = (await store.audit(query)).items;
  return purge ? Date.parse(String(purge.details.before)) : 0;
}

type ScopeQuery = Pick<
  ReportQuery,
  'days' | 'from' | 'to' | 'simulated' | 'venueId' | 'screenId' | 'selector'
>;

/**
 * Returns which counts a report adds up: those of the venues and screens that its query names or
 * selects, and that the caller may see.
 */
export async function filterOf(
  { store }: Pick<ServiceDependencies, 'store'>,
  { tenantId, venueIds: own }: Pick<TenantPrincipal, 'tenantId' | 'venueIds'>,
  { venueId, screenId, selector, ...range }: ScopeQuery,
): Promise<PlayFilter> {
  const { days, from, to, simulated } = range;
  const named = venueId && new Set(venueId);
  const venueIds = own === null ? named : new Set(own.filter((id) => named?.has(id) ?? true));
  let screenIds = screenId && new Set(screenId);
  if (selector) {
    const selected = new Set<string>();
    const query = { where: { tenantId }, selector, limit: screensPerPage };
    for (let after: string | null | undefined; after !== null; ) {
      const page = await store.list('screens', { ...query, ...(after && { after }) });
      for (const { id } of page.items) if (screenIds?.has(id) ?? true) selected.add(id);
      after = page.next;
    }
    screenIds = selected;
  }
  return { days, from, to, simulated, venueIds, screenIds };
}
