import { bearerToken, hashKey, type VerifiedHashes } from '../../domain/api-key.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { asGuid } from '../../domain/id.ts';
import { mayAct, type RequiredRole } from '../../domain/records/role.ts';
import type { Token } from '../../domain/records/rows.ts';
import { adminTokenForm } from '../../domain/records/token.ts';
import type { Store } from '../../store/store.ts';
import {
  type ClientInfo,
  type Principal,
  recordChange,
  type SystemDependencies,
} from '../context.ts';
import type { TrustedSources } from '../guesses/trusted-sources.ts';
import { notFound } from '../lookup.ts';
import { checkToken, unknownToken } from './authority.ts';
import type { Denials } from './denials.ts';
import { tokenChange } from './tokens.ts';

/** Credentials of a management request. */
export interface Credentials {
  authorization: string | undefined;
  /** The `X-Tenant-Id` header, if the request has one. */
  tenant: string | undefined;
}

/** Rights that an operation requires of a token. */
export interface AccessRequirements {
  role: RequiredRole;
  /** Whether the operation also works without a tenant. */
  tenantOptional: boolean;
  /** Whether tokens that are bound to venues are rejected. */
  wholeTenant: boolean;
  /** Name of the operation, for the audit trail. */
  operation: string;
}

/**
 * Returns the hash of the management token in an `Authorization` header, or `undefined` if it is
 * malformed.
 */
export function tokenHash(authorization: string): string | undefined {
  const text = bearerToken(authorization);
  return text !== undefined && adminTokenForm.test(text) ? hashKey(text) : undefined;
}

/** Finds a token by the hash of its current or retiring secret. */
const findByHash = async ({ read }: Store, hash: string): Promise<Token | undefined> =>
  (await read.find('tokens', 'hash', hash)) ?? (await read.find('tokens', 'retiring', hash));

/**
 * Returns the id of the management token with this secret, or `undefined` if it is rejected. The
 * call does not count as a use of the secret, so it does not end a rotation (docs/protocol.md
 * §5.13).
 */
export async function identifyToken(
  { store, clock }: SystemDependencies,
  secret: string,
): Promise<string | undefined> {
  if (!adminTokenForm.test(secret)) return undefined;
  const hash = hashKey(secret);
  const token = await findByHash(store, hash);
  try {
    checkToken(token, hash, clock.now());
    return token.id;
  } catch {
    return undefined;
  }
}

/** Throws `insufficient_role`. */
function checkRights({ name, role, venueIds }: Token, requirements: AccessRequirements): void {
  const tokenName = `the token ${JSON.stringify(name)}`;
  if (!mayAct(role, requirements.role))
    throw new SignageError(
      'insufficient_role',
      `This operation requires the role ${requirements.role}; ${tokenName} has ${role}.`,
    );
  if (!requirements.wholeTenant || venueIds == null) return;
  throw new SignageError(
    'insufficient_role',
    `This operation requires a token for the whole tenant; ${tokenName} is bound to venues.`,
  );
}

/**
 * Authenticates management tokens (docs/protocol.md §5.1). Throws, in this order,
 * `credential_missing`, `credential_invalid`, `credential_expired`, `insufficient_role`,
 * `tenant_not_found`, `tenant_required`.
 */
export function makeManagementAuth(
  deps: SystemDependencies,
  trustedSources: TrustedSources,
  denials: Denials,
  verified: VerifiedHashes,
) {
  const { store, clock } = deps;

  async function findToken(
    authorization: string | undefined,
    client: ClientInfo,
  ): Promise<{ token: Token; hash: string }> {
    if (authorization === undefined) {
      throw new SignageError(
        'credential_missing',
        'Send a management token: Authorization: Bearer mak_…',
      );
    }
    const hash = tokenHash(authorization);
    if (hash === undefined) throw unknownToken();
    const token = await findByHash(store, hash);
    verified.delete(hash);
    checkToken(token, hash, clock.now());
    verified.set(hash, true);
    if (token.firstUsedAt === null && token.hash === hash) await recordFirstUse(token, client);
    return { token, hash };
  }

  /**
   * Records the first use of a secret. From then on, the response that disclosed it is not
   * repeated, and the secret that it replaced is rejected. A failed write does not block the
   * request.
   */
  async function recordFirstUse({ id, hash }: Token, client: ClientInfo): Promise<void> {
    try {
      await store.write(async (tx) => {
        const token = await tx.get('tokens', id);
        if (token?.firstUsedAt !== null || token.hash !== hash) return;
        await tx.put('tokens', { ...token, firstUsedAt: tx.now, retiring: null });
        if (!token.retiring) return;
        const actor = { kind: 'token' as const, id, name: token.name };
        await recordChange(deps, tx, { ...client, actor }, tokenChange('activate', token));
      });
    } catch (error) {
      if (!hasCode(error, 'unavailable')) throw error;
    }
  }

  /**
   * Returns the tenant that a platform token acts in: the requested one, or the only one. Returns
   * `null` if there are several and none is required.
   */
  async function tenantForPlatform(
    requestedTenant: string | undefined,
    optional: boolean,
  ): Promise<string | null> {
    if (requestedTenant !== undefined) {
      const id = asGuid(requestedTenant);
      if (id === undefined || !(await store.read.get('tenants', id))) throw notFound('tenant');
      return id;
    }
    const { items } = await store.list('tenants', { limit: 2 });
    if (items.length === 1 && items[0]) return items[0].id;
    if (optional) return null;
    throw new SignageError(
      'tenant_required',
      'There are several tenants: name one with the header X-Tenant-Id.',
    );
  }

  function tenantFor(
    token: Token,
    requestedTenant: string | undefined,
    optional: boolean,
  ): Promise<string | null> {
    if (token.tenantId === null) return tenantForPlatform(requestedTenant, optional);
    if (requestedTenant !== undefined && asGuid(requestedTenant) !== token.tenantId)
      throw notFound('tenant');
    return Promise.resolve(token.tenantId);
  }

  return async function authenticate(
    credentials: Credentials,
    requirements: AccessRequirements,
    client: ClientInfo,
  ): Promise<Principal> {
    const { token, hash } = await findToken(credentials.authorization, client);
    const lastUsedAt = clock.now();
    store.touch('token', token.id, { lastUsedAt });
    if (token.tenantId !== null) trustedSources.remember(client.address, token.tenantId);
    try {
      checkRights(token, requirements);
    } catch (error) {
      denials.record(
        { ...callerOf(token, hash, client), tenantId: token.tenantId },
        requirements.operation,
      );
      throw error;
    }
    const tenantId = await tenantFor(token, credentials.tenant, requirements.tenantOptional);
    if (token.tenantId === null && tenantId !== null)
      trustedSources.remember(client.address, tenantId);
    return { ...callerOf(token, hash, client), tenantId };
  };
}

function callerOf(
  { id, name, role, venueIds, expiresAt }: Token,
  tokenHash: string,
  { address, requestId }: ClientInfo,
): Omit<Principal, 'tenantId'> {
  return {
    address,
    requestId,
    actor: { kind: 'token', id, name },
    tokenHash,
    role,
    venueIds: venueIds ?? null,
    expiresAt: expiresAt ?? null,
  };
}
