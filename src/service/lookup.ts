import { hasCode, SignageError } from '../domain/error.ts';
import { asGuid } from '../domain/id.ts';
import type { AuditAction, AuditDetails, AuditVerb } from '../domain/records/audit.ts';
import type { PairingCode } from '../domain/records/rows.ts';
import type { Reader, Rows, Tx } from '../store/store.ts';
import type { AuditChange, Principal, ServiceDependencies, TenantPrincipal } from './context.ts';

const tableOf = {
  tenant: 'tenants',
  token: 'tokens',
  venue: 'venues',
  screen: 'screens',
  device: 'devices',
  webhook: 'webhooks',
  ticket: 'tickets',
} as const;

/** The kinds of records in management paths. */
export type LookupKind = keyof typeof tableOf;
type RowOf<K extends LookupKind> = Rows[(typeof tableOf)[K]];

/**
 * Whether a caller may see a record or entry that concerns these venues. A caller bound to venues
 * must be bound to every one of these venues.
 */
export function isInScope(
  { venueIds }: Pick<Principal, 'venueIds'>,
  recordVenueIds: readonly string[],
): boolean {
  return (
    venueIds === null ||
    (recordVenueIds.length > 0 && recordVenueIds.every((id) => venueIds.includes(id)))
  );
}

/** Returns the venues that a record concerns. Empty: the tenant as a whole. */
export function venuesOf(
  kind: LookupKind | 'pairing_code',
  row: RowOf<LookupKind> | PairingCode,
): readonly string[] {
  if (kind === 'venue') return [row.id];
  if ('venueIds' in row) return row.venueIds ?? [];
  return 'venueId' in row ? [row.venueId] : [];
}

/** Describes a change of a record for the audit trail. */
export function changeOf<K extends LookupKind>(
  kind: K,
  verb: AuditVerb<K>,
  row: RowOf<K>,
  details: AuditDetails,
): AuditChange {
  return {
    action: `${kind}.${verb}` as AuditAction,
    subject: { kind, id: row.id },
    tenantId: 'tenantId' in row ? row.tenantId : row.id,
    venueIds: venuesOf(kind, row),
    details,
  };
}

/** Returns the same error for unknown records, malformed ids and records of other tenants. */
export function notFound(kind: LookupKind): SignageError {
  return new SignageError(`${kind}_not_found`, `There is no ${kind} with this id.`);
}

function belongsToTenant(principal: Principal, row: RowOf<LookupKind>): boolean {
  if (!('tenantId' in row)) return principal.role === 'platform' || row.id === principal.tenantId;
  return row.tenantId === null
    ? principal.role === 'platform'
    : row.tenantId === principal.tenantId;
}

/** Whether a caller may see a record. */
export function isVisibleTo(
  principal: Principal,
  kind: LookupKind,
  row: RowOf<LookupKind>,
): boolean {
  return belongsToTenant(principal, row) && isInScope(principal, venuesOf(kind, row));
}

/**
 * Returns the record with this id if the caller may see it. Otherwise throws `<kind>_not_found`.
 */
export async function lookUp<K extends LookupKind>(
  reader: Reader,
  principal: Principal,
  kind: K,
  id: string,
): Promise<RowOf<K>> {
  const guid = asGuid(id);
  const row =
    guid === undefined
      ? undefined
      : ((await reader.get(tableOf[kind], guid)) as RowOf<K> | undefined);
  if (!row || !isVisibleTo(principal, kind, row)) throw notFound(kind);
  return row;
}

/**
 * Checks that the tenant still exists, in the transaction that adds a record to it. The tenant may
 * have been deleted since authentication. Throws `tenant_not_found`.
 */
export async function requireTenant(tx: Reader, { tenantId }: TenantPrincipal): Promise<void> {
  if (!(await tx.get('tenants', tenantId))) throw notFound('tenant');
}

/**
 * Runs a change that sets the name of a record. A name conflict becomes `name_taken`, with the id
 * of the existing record if the caller may see it.
 */
export async function withNameConflict<T>(
  { store, write }: ServiceDependencies,
  principal: Principal,
  kind: LookupKind,
  name: string,
  change: (tx: Tx) => Promise<T>,
): Promise<T> {
  try {
    return await write(principal, change);
  } catch (error) {
    if (!hasCode(error, 'conflict')) throw error;
    const existingId = error.existingId as string;
    // Screen names are unique within their venue. The caller can see the venue, and so the existing
    // screen.
    const mayAlwaysSee = principal.venueIds === null || kind === 'screen';
    const existing = mayAlwaysSee
      ? undefined
      : ((await store.read.get(tableOf[kind], existingId)) as RowOf<LookupKind> | undefined);
    const detail = `A ${kind} with the name ${JSON.stringify(name)} already exists; choose another name, or use that one.`;
    throw new SignageError(
      'name_taken',
      detail,
      mayAlwaysSee || (existing && isVisibleTo(principal, kind, existing)) ? { existingId } : {},
    );
  }
}

/**
 * Returns the venue filter of a list: the requested venue, or all venues that the caller may see.
 */
export function whereVenue(
  { venueIds }: Pick<Principal, 'venueIds'>,
  requested?: string,
): { venueId?: string | readonly string[] } {
  if (requested !== undefined)
    return { venueId: venueIds === null || venueIds.includes(requested) ? requested : [] };
  if (venueIds === null) return {};
  // A filter with a single value uses the index.
  return { venueId: venueIds.length === 1 && venueIds[0] !== undefined ? venueIds[0] : venueIds };
}

/** Returns the filter that limits events, reports and audit entries to the caller's venues. */
export function venueScopeFilter({ venueIds }: Pick<Principal, 'venueIds'>): {
  venueIds?: readonly string[];
} {
  return venueIds === null ? {} : { venueIds };
}
