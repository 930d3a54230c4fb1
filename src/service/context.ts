import type { Clock, Random } from '../domain/clock.ts';
import type { IdSource } from '../domain/id.ts';
import type { AuditDetails } from '../domain/records/audit.ts';
import type { Role } from '../domain/records/role.ts';
import type { Actor, Device, DeviceKey, Screen } from '../domain/records/rows.ts';
import type { Store, Tx } from '../store/store.ts';

/** Dependencies of subjects that act for the service itself, and of authentication. */
export interface SystemDependencies {
  store: Store;
  clock: Clock;
  random: Random;
  newId: IdSource;
}

/** Dependencies of subjects that act for callers. They get a transaction from `write` alone. */
export interface ServiceDependencies extends Omit<SystemDependencies, 'store'> {
  store: Omit<Store, 'write'>;
  /** As `Store.write`, but inside the transaction the caller's credential is checked first. Throws the 401 that it would get on arrival. */
  write<T>(caller: Caller | DeviceCaller, change: (tx: Tx) => Promise<T>): Promise<T>;
}

/** Where a request came from. */
export interface ClientInfo {
  /** The caller's address; `null` when it is not known. */
  address: string | null;
  requestId: string | null;
}

type TokenActor = { kind: 'token'; id: string; name: string };
type SystemActor = { kind: 'system'; id: null; name: null };

/** A management token at work; with the actor `system`, the service itself, of which no credential is checked. */
export interface Caller extends ClientInfo {
  actor: TokenActor | SystemActor;
  role: Role;
  /** The tenant it acts in; `null` when a platform token left that open. */
  tenantId: string | null;
  /** All of the tenant that it may know of; `null`: the whole of it. */
  venueIds: readonly string[] | null;
  /** When its token ends, in milliseconds; `null`: never. */
  expiresAt: number | null;
}

/** A caller that acts in one tenant. */
export interface TenantCaller extends Caller {
  tenantId: string;
}

/** A TV that has shown its key. */
export interface DeviceCaller extends ClientInfo {
  key: DeviceKey;
  device: Device;
  screen: Screen;
}

/** The service itself, as an actor. */
export const system: SystemActor = { kind: 'system', id: null, name: null };

/** What a change was, for the audit trail. */
export interface Change {
  action: string;
  subject: { kind: string; id: string | null };
  /** The tenant that may read of it; `null`: platform tokens alone. */
  tenantId: string | null;
  /** The venues that it is about; none where that is the tenant as a whole. */
  venueIds?: readonly string[];
  details?: AuditDetails;
}

/** Who made a change, and from where. */
export type AuditActor = { actor: Actor } & ClientInfo;

/** Adds a change to the audit trail, in the transaction that makes it. */
export function recordChange(
  deps: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  by: AuditActor,
  change: Change,
): Promise<void> {
  const { action, subject, tenantId, venueIds = [], details = {} } = change;
  const { actor, address, requestId } = by;
  const about = venueIds.length === 0 ? {} : { venueIds };
  return tx.audit({
    id: deps.newId(),
    at: tx.now,
    tenantId,
    actor,
    action,
    subject,
    address,
    requestId,
    details,
    ...about,
  });
}
