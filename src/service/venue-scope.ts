import type { Rows } from '../domain/records/rows.ts';
import type { Caller } from './context.ts';

/**
 * Whether a caller may see something that concerns these venues. A caller bound to venues must be
 * bound to all of them.
 */
export function isInScope(
  { venueIds }: Pick<Caller, 'venueIds'>,
  recordVenueIds: readonly string[],
): boolean {
  return (
    venueIds === null ||
    (recordVenueIds.length > 0 && recordVenueIds.every((id) => venueIds.includes(id)))
  );
}

/** Records that belong to venues, or to a tenant as a whole. */
type VenueScopedRow =
  | Rows['tenants']
  | Rows['venues']
  | Rows['screens']
  | Rows['devices']
  | Rows['codes']
  | Rows['tokens'];

/** Returns the venues that a record concerns. Empty: the tenant as a whole. */
export function venuesOf(
  kind: 'tenant' | 'token' | 'venue' | 'screen' | 'device' | 'pairing_code',
  row: VenueScopedRow,
): readonly string[] {
  if (kind === 'venue') return [row.id];
  if ('venueIds' in row) return row.venueIds ?? [];
  return 'venueId' in row && row.venueId !== undefined ? [row.venueId] : [];
}

/**
 * Returns the `where` filter of a list by venue: all venues the caller may see, or the requested
 * one.
 */
export function whereVenue(
  { venueIds }: Pick<Caller, 'venueIds'>,
  requested?: string,
): { venueId?: string | readonly string[] } {
  if (requested !== undefined)
    return { venueId: venueIds === null || venueIds.includes(requested) ? requested : [] };
  if (venueIds === null) return {};
  // A single value uses the index.
  return { venueId: venueIds.length === 1 && venueIds[0] !== undefined ? venueIds[0] : venueIds };
}

/** Returns the filter that limits events, reports and audit entries to the caller's venues. */
export function venueScopeFilter({ venueIds }: Pick<Caller, 'venueIds'>): {
  venueIds?: readonly string[];
} {
  return venueIds === null ? {} : { venueIds };
}
