import type { Rows } from '../domain/records/rows.ts';
import type { Caller } from './context.ts';

/** Whether a caller may know of something that is about these venues: one that is bound to venues, only if they are all among its own. */
export function isWithin(
  { venueIds }: Pick<Caller, 'venueIds'>,
  about: readonly string[],
): boolean {
  return venueIds === null || (about.length > 0 && about.every((id) => venueIds.includes(id)));
}

/** The records that belong to venues, or to a tenant as a whole. */
type Placed =
  | Rows['tenants']
  | Rows['venues']
  | Rows['screens']
  | Rows['devices']
  | Rows['codes']
  | Rows['tokens'];

/** The venues that a record is about; none where that is the tenant as a whole. */
export function venuesOf(
  kind: 'tenant' | 'token' | 'venue' | 'screen' | 'device' | 'pairing_code',
  row: Placed,
): readonly string[] {
  if (kind === 'venue') return [row.id];
  if ('venueIds' in row) return row.venueIds ?? [];
  return 'venueId' in row && row.venueId !== undefined ? [row.venueId] : [];
}

/** What a list by venue shows a caller: of all the venues, or of the one that is asked for. */
export function inVenues(
  { venueIds }: Pick<Caller, 'venueIds'>,
  asked?: string,
): { venueId?: string | readonly string[] } {
  if (asked !== undefined)
    return { venueId: venueIds === null || venueIds.includes(asked) ? asked : [] };
  if (venueIds === null) return {};
  // One alone is found by its index.
  return { venueId: venueIds.length === 1 && venueIds[0] !== undefined ? venueIds[0] : venueIds };
}

/** What narrows a query of events, reports and the audit trail to what a caller may know of. */
export function withinVenues({ venueIds }: Pick<Caller, 'venueIds'>): {
  venueIds?: readonly string[];
} {
  return venueIds === null ? {} : { venueIds };
}
