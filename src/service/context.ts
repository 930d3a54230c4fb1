import { maskSecrets } from '../domain/api-key.ts';
import type { Clock, Random } from '../domain/clock.ts';
import type { IdSource } from '../domain/id.ts';
import type { Actor, AuditAction, AuditDetails } from '../domain/records/audit.ts';
import type { Role } from '../domain/records/role.ts';
import type { Device, DeviceKey, Screen } from '../domain/records/rows.ts';
import type { Store, Tx } from '../store/store.ts';

/** Dependencies of authentication, and of modules that act for the service itself. */
export interface SystemDependencies {
  store: Store;
  clock: Clock;
  random: Random;
  newId: IdSource;
}

/** Dependencies of modules that act for callers. They change the store only through `write`. */
export interface ServiceDependencies extends Omit<SystemDependencies, 'store'> {
  store: Omit<Store, 'write'>;
  /**
   * Like `Store.write`, but first checks the caller's credential inside the transaction. Throws the
   * same errors as authentication.
   */
  write<T>(principal: Principal | DevicePrincipal, change: (tx: Tx) => Promise<T>): Promise<T>;
}

/** Address and request id of a caller. */
export interface ClientInfo {
  /** The caller's address. `null`: unknown. */
  address: string | null;
  requestId: string | null;
}

/** The screen that a request is about, and its device. The id `null` is an unknown device. */
export type RequestPlace = Pick<Device, 'tenantId' | 'venueId' | 'screenId'> & {
  id: string | null;
};

/** Screen and device that a TV's request is about. Authentication and registration fill it in. */
export interface RequestSubject {
  /** Id of the screen or device in the path, or of the screen of the pairing code. */
  namedId?: string | undefined;
  /** The device of the key, also if the key is rejected, or the screen of the pairing code. */
  place?: RequestPlace | undefined;
}

type TokenActor = { kind: 'token'; id: string; name: string };
type SystemActor = { kind: 'system'; id: null; name: null };

/**
 * An authenticated management token. With the actor `system`, the caller is the service itself,
 * which needs no credential.
 */
export interface Principal extends ClientInfo {
  actor: TokenActor | SystemActor;
  /** SHA-256 of the token's secret, in hex. `null`: the service itself. */
  tokenHash: string | null;
  role: Role;
  /** The tenant that the caller acts in. `null`: a platform token without a chosen tenant. */
  tenantId: string | null;
  /** The venues that the caller may access. `null`: the whole tenant. */
  venueIds: readonly string[] | null;
  /** Expiry of the caller's token, in epoch milliseconds. `null`: never. */
  expiresAt: number | null;
}

/** A caller that acts in one tenant. */
export interface TenantPrincipal extends Principal {
  tenantId: string;
}

/** A TV authenticated by its device key. */
export interface DevicePrincipal extends ClientInfo {
  key: DeviceKey;
  device: Device;
  screen: Screen;
}

/** The service itself, as the actor of a change. */
export const system: SystemActor = { kind: 'system', id: null, name: null };

/** A change, as described in the audit trail. */
export interface AuditChange {
  action: AuditAction;
  subject: { kind: string; id: string | null };
  /** The tenant that may read the audit entry. `null`: only platform tokens may read it. */
  tenantId: string | null;
  /** The venues that the change concerns. Empty: the tenant as a whole. */
  venueIds?: readonly string[];
  details?: AuditDetails;
}

/** Actor of a change, and its client. */
export type AuditActor = { actor: Actor } & ClientInfo;

/** A device as the actor of a change. */
export const deviceActor = ({ id, deviceInfo }: Device) => ({
  kind: 'device' as const,
  id,
  name: deviceInfo.deviceName,
});

/** Stands in the audit trail for changes that the service makes by itself. */
export const bySystem: AuditActor = { actor: system, address: null, requestId: null };

/** Masks secrets in texts of people, such as a token pasted into the reason of a revocation. */
function withoutSecrets(details: AuditDetails): AuditDetails {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      typeof value === 'string' ? maskSecrets(value) : value,
    ]),
  );
}

/** Appends a change to the audit trail, in the transaction that makes it. */
export function recordChange(
  deps: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  by: AuditActor,
  change: AuditChange,
): Promise<void> {
  const { action, subject, tenantId, venueIds = [], details = {} } = change;
  const { actor, address, requestId } = by;
  const venues = venueIds.length === 0 ? {} : { venueIds };
  return tx.audit({
    id: deps.newId(),
    at: tx.stamp,
    tenantId,
    actor,
    action,
    subject,
    address,
    requestId,
    details: withoutSecrets(details),
    ...venues,
  });
}
