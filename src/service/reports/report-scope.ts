import type { ReportQuery } from '../../domain/records/report.ts';
import type { ServiceDependencies, TenantPrincipal } from '../context.ts';
import type { PlayFilter } from './play-totals.ts';

/** Screens that are read at a time, to be selected. */
const screensPerPage = 200;

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
  { tenantId, venueIds: own }: TenantPrincipal,
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
