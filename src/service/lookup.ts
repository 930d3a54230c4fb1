import { hasCode, SignageError } from '../domain/error.ts';
import { asGuid } from '../domain/id.ts';
import type { Rows } from '../domain/records.ts';
import type { Reader } from '../store/store.ts';
import type { Caller } from './context.ts';

const tableOf = { tenant: 'tenants', token: 'tokens', venue: 'venues', screen: 'screens', device: 'devices' } as const;

/** The records that management paths name. */
export type RecordKind = keyof typeof tableOf;
type RowOf<K extends RecordKind> = Rows[(typeof tableOf)[K]];

/** What an unknown record, an id that is none, and another tenant's record answer alike. */
export function notFound(kind: RecordKind): SignageError {
  return new SignageError(`${kind}_not_found`, `There is no ${kind} with this id.`);
}

function visibleTo(caller: Caller, kind: RecordKind, row: RowOf<RecordKind>): boolean {
  if (kind === 'tenant') return caller.role === 'platform' || row.id === caller.tenantId;
  const tenantId = 'tenantId' in row ? row.tenantId : null;
  if (tenantId === null) return caller.role === 'platform';
  return tenantId === caller.tenantId;
}

/** The record with this id, if the caller may know of it; else throws `<kind>_not_found`. */
export async function lookUp<K extends RecordKind>(reader: Reader, caller: Caller, kind: K, id: string): Promise<RowOf<K>> {
  const guid = asGuid(id);
  const row = guid === undefined ? undefined : ((await reader.get(tableOf[kind], guid)) as RowOf<K> | undefined);
  if (!row || !visibleTo(caller, kind, row)) throw notFound(kind);
  return row;
}

/** Runs a change that gives a record a name, and says whose the name is when it is taken. */
export async function withName<T>(kind: RecordKind, name: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!hasCode(error, 'conflict')) throw error;
    const detail = `A ${kind} with the name ${JSON.stringify(name)} is there already; choose another name, or use that one.`;
    throw new SignageError('name_taken', detail, { ...(error.existingId === undefined ? {} : { existingId: error.existingId }) });
  }
}
