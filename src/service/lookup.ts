import { hasCode, SignageError } from '../domain/error.ts';
import { asGuid } from '../domain/id.ts';
import type { Rows } from '../domain/records/rows.ts';
import type { Reader } from '../store/store.ts';
import type { Caller, ServiceDependencies, TenantCaller } from './context.ts';
import { isWithin, venuesOf } from './venue-scope.ts';

const tableOf = {
  tenant: 'tenants',
  token: 'tokens',
  venue: 'venues',
  screen: 'screens',
  device: 'devices',
} as const;

/** The records that management paths name. */
export type RecordKind = keyof typeof tableOf;
type RowOf<K extends RecordKind> = Rows[(typeof tableOf)[K]];

/** What an unknown record, an id that is none, and another tenant's record answer alike. */
export function notFound(kind: RecordKind): SignageError {
  return new SignageError(`${kind}_not_found`, `There is no ${kind} with this id.`);
}

function isOfTenant(caller: Caller, row: RowOf<RecordKind>): boolean {
  if (!('tenantId' in row)) return caller.role === 'platform' || row.id === caller.tenantId;
  return row.tenantId === null ? caller.role === 'platform' : row.tenantId === caller.tenantId;
}

/** Whether a caller may know of a record. */
export function visibleTo(caller: Caller, kind: RecordKind, row: RowOf<RecordKind>): boolean {
  return isOfTenant(caller, row) && isWithin(caller, venuesOf(kind, row));
}

/** The record with this id, if the caller may know of it; else throws `<kind>_not_found`. */
export async function lookUp<K extends RecordKind>(
  reader: Reader,
  caller: Caller,
  kind: K,
  id: string,
): Promise<RowOf<K>> {
  const guid = asGuid(id);
  const row =
    guid === undefined
      ? undefined
      : ((await reader.get(tableOf[kind], guid)) as RowOf<K> | undefined);
  if (!row || !visibleTo(caller, kind, row)) throw notFound(kind);
  return row;
}

/** Holds the tenant that a new record goes into: it may have been deleted since the caller was let in. Throws `tenant_not_found`. */
export async function holdTenant(tx: Reader, { tenantId }: TenantCaller): Promise<void> {
  if (!(await tx.get('tenants', tenantId))) throw notFound('tenant');
}

/** Runs a change that gives a record a name, and says whose the name is when it is taken: to those who may know of that one. */
export async function withName<T>(
  { store, caller }: Pick<ServiceDependencies, 'store'> & { caller: Caller },
  kind: RecordKind,
  name: string,
  change: () => Promise<T>,
): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!hasCode(error, 'conflict')) throw error;
    const existingId = error.existingId as string;
    // The name of a screen is taken in its venue, which the caller sees.
    const isKnown = caller.venueIds === null || kind === 'screen';
    const there = isKnown
      ? undefined
      : ((await store.read.get(tableOf[kind], existingId)) as RowOf<RecordKind> | undefined);
    const detail = `A ${kind} with the name ${JSON.stringify(name)} is there already; choose another name, or use that one.`;
    throw new SignageError(
      'name_taken',
      detail,
      isKnown || (there && visibleTo(caller, kind, there)) ? { existingId } : {},
    );
  }
}
