import { hashKey } from '../../domain/api-key.ts';
import { SignageError } from '../../domain/error.ts';
import { asGuid } from '../../domain/id.ts';
import type { KnownHashes } from '../../domain/known-hashes.ts';
import { mayAct, type Role } from '../../domain/records/role.ts';
import type { Token } from '../../domain/records/rows.ts';
import { adminTokenForm } from '../../domain/records/token.ts';
import type { Caller, ClientInfo, SystemDependencies } from '../context.ts';
import { notFound } from '../lookup.ts';
import type { TrustedSources } from '../pairing/trusted-sources.ts';
import { checkToken } from './authority.ts';
import { bearer } from './bearer.ts';
import type { Denials } from './denials.ts';

/** Who asks, as the request says it. */
export interface Credentials {
  authorization: string | undefined;
  /** The `X-Tenant-Id` header. */
  tenant: string | undefined;
}

/** What an operation takes. */
export interface Demand {
  role: Role;
  /** The operation works without a tenant too. */
  tenantOptional: boolean;
  /** It takes a token that is not bound to venues. */
  wholeTenant: boolean;
  /** Its name, for the audit trail. */
  operation: string;
}

/** Throws `insufficient_role`. */
function checkRights({ name, role, venueIds }: Token, demand: Demand): void {
  const shown = `the token ${JSON.stringify(name)}`;
  if (!mayAct(role, demand.role))
    throw new SignageError(
      'insufficient_role',
      `This takes the role ${demand.role}; ${shown} has ${role}.`,
    );
  if (!demand.wholeTenant || venueIds == null) return;
  throw new SignageError(
    'insufficient_role',
    `This takes a token of the whole tenant; ${shown} is bound to venues.`,
  );
}

/**
 * Authenticates management tokens (docs/protocol.md §5.1). Throws, in this order, `credential_missing`, `credential_invalid`,
 * `credential_expired`, `insufficient_role`, `tenant_not_found`, `tenant_required`.
 */
export function makeManagementAuth(
  deps: SystemDependencies,
  trust: TrustedSources,
  denials: Denials,
  known: KnownHashes,
) {
  const { store, clock } = deps;

  async function tokenOf(authorization: string | undefined): Promise<Token> {
    if (authorization === undefined) {
      throw new SignageError(
        'credential_missing',
        'Send a management token: Authorization: Bearer mak_…',
      );
    }
    const text = bearer(authorization);
    const hash = text !== undefined && adminTokenForm.test(text) ? hashKey(text) : undefined;
    const token = hash === undefined ? undefined : await store.read.find('tokens', 'hash', hash);
    if (hash !== undefined) known.delete(hash);
    checkToken(token, clock.now());
    known.add(token.hash);
    return token;
  }

  /** The tenant that a platform token acts in: the named one, or the only one. */
  async function tenantOfPlatform(
    named: string | undefined,
    optional: boolean,
  ): Promise<string | null> {
    if (named !== undefined) {
      const id = asGuid(named);
      if (id === undefined || !(await store.read.get('tenants', id))) throw notFound('tenant');
      return id;
    }
    const { items } = await store.list('tenants', { limit: 2 });
    if (items.length === 1 && items[0]) return items[0].id;
    if (optional) return null;
    throw new SignageError(
      'tenant_required',
      'There are several tenants: name the one you mean with the header X-Tenant-Id.',
    );
  }

  function tenantOf(
    token: Token,
    named: string | undefined,
    optional: boolean,
  ): Promise<string | null> {
    if (token.tenantId === null) return tenantOfPlatform(named, optional);
    if (named !== undefined && asGuid(named) !== token.tenantId) throw notFound('tenant');
    return Promise.resolve(token.tenantId);
  }

  return async function authenticate(
    credentials: Credentials,
    demand: Demand,
    origin: ClientInfo,
  ): Promise<Caller> {
    const token = await tokenOf(credentials.authorization);
    const lastUsedAt = clock.now();
    store.touch('token', token.id, { lastUsedAt });
    if (token.tenantId !== null) trust.remember(origin.address, token.tenantId);
    try {
      checkRights(token, demand);
    } catch (error) {
      denials.record({ ...callerOf(token, origin), tenantId: token.tenantId }, demand.operation);
      throw error;
    }
    const tenantId = await tenantOf(token, credentials.tenant, demand.tenantOptional);
    if (token.tenantId === null && tenantId !== null) trust.remember(origin.address, tenantId);
    return { ...callerOf(token, origin), tenantId };
  };
}

function callerOf(
  { id, name, role, venueIds, expiresAt }: Token,
  origin: ClientInfo,
): Omit<Caller, 'tenantId'> {
  return {
    ...origin,
    actor: { kind: 'token', id, name },
    role,
    venueIds: venueIds ?? null,
    expiresAt: expiresAt ?? null,
  };
}
