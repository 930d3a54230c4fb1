import { hashKey, makeKey } from '../../domain/api-key.ts';
import { iso, isoOrNull } from '../../domain/clock.ts';
import { invalid, SignageError } from '../../domain/error.ts';
import { checkPrecondition, type Precondition, revision } from '../../domain/etags/etag.ts';
import type { Page } from '../../domain/paging.ts';
import type { TokenActivity } from '../../domain/records/activity.ts';
import type { AuditVerb } from '../../domain/records/audit.ts';
import { isPlatformRole, mayAct } from '../../domain/records/role.ts';
import type { Token } from '../../domain/records/rows.ts';
import type {
  CreatedTokenView,
  MeView,
  TokenCreation,
  TokenQuery,
  TokenView,
} from '../../domain/records/token.ts';
import type { ListQuery, Slice } from '../../store/queries.ts';
import type { Tx } from '../../store/store.ts';
import {
  type Principal,
  recordChange,
  type ServiceDependencies,
  type TenantPrincipal,
} from '../context.ts';
import {
  type IdempotentRequest,
  lookUpCreated,
  notRepeatable,
  prepareCreation,
} from '../creations.ts';
import { changeOf, isVisibleTo, lookUp, requireTenant, withNameConflict } from '../lookup.ts';
import { pageFilters, toPage } from '../paging.ts';

/** Expiry and venue binding of a token. */
export function reachView({
  expiresAt,
  venueIds,
}: Pick<Token, 'expiresAt' | 'venueIds'>): Pick<TokenView, 'expiresAt' | 'venueIds'> {
  return { expiresAt: isoOrNull(expiresAt), venueIds: venueIds ? [...venueIds] : null };
}

export function tokenView(row: Token, activity: TokenActivity): TokenView {
  const { id, tenantId, name, role } = row;
  const times = { createdAt: iso(row.createdAt), lastUsedAt: isoOrNull(activity.lastUsedAt) };
  return { id, tenantId, name, role, ...reachView(row), ...times };
}

export const tokenChange = (verb: AuditVerb<'token'>, row: Token) =>
  changeOf('token', verb, row, { name: row.name, role: row.role });

/**
 * Limits the expiry of a token to the expiry of its creator. Otherwise, an expiring token could
 * create its own successor.
 */
const expiryOf = (
  requested: number | null | undefined,
  creatorExpiry: number | null,
): number | null =>
  requested == null || creatorExpiry === null
    ? (requested ?? creatorExpiry)
    : Math.min(requested, creatorExpiry);

/** Throws `not_repeatable` unless `token` is the current secret and unused. */
export function checkRepeatable({ id, name, hash, firstUsedAt }: Token, token: string): void {
  if (hash !== hashKey(token))
    throw notRepeatable(`the token ${JSON.stringify(name)} was rotated since.`, id);
  if (firstUsedAt !== null)
    throw notRepeatable(`the token ${JSON.stringify(name)} has been used.`, id);
}

const neverExpires = ({ expiresAt }: Token) => expiresAt === null;

/** Management tokens. A token is displayed once, and stored as a hash (docs/protocol.md §5.1). */
export function makeTokens(deps: ServiceDependencies) {
  const { store } = deps;
  const view = async (row: Token): Promise<TokenView> =>
    tokenView(row, await store.marks('token', row.id));

  /**
   * Returns a page of the tokens that a caller may see. No index covers venue bindings, so tokens
   * outside the caller's venues are filtered out here.
   */
  async function listVisible(
    principal: TenantPrincipal,
    query: ListQuery<'tokens'>,
  ): Promise<Slice<Token>> {
    if (principal.venueIds === null) return store.list('tokens', query);
    const items: Token[] = [];
    for (let after = query.after; ; ) {
      const slice = await store.list('tokens', {
        ...query,
        ...(after === undefined ? {} : { after }),
      });
      for (const row of slice.items) {
        if (!isVisibleTo(principal, 'token', row)) continue;
        if (items.length === query.limit) return { items, next: items.at(-1)?.id ?? null };
        items.push(row);
      }
      if (slice.next === null) return { items, next: null };
      after = slice.next;
    }
  }

  /** Platform callers also see the platform's own tokens. */
  async function list(
    principal: TenantPrincipal,
    query: TokenQuery,
    signal?: AbortSignal,
  ): Promise<Page<TokenView>> {
    const tenantId =
      principal.role === 'platform' ? [principal.tenantId, null] : principal.tenantId;
    return toPage(
      await listVisible(principal, {
        where: { tenantId },
        ...pageFilters(query, signal),
      }),
      view,
    );
  }

  async function get(principal: Principal, id: string): Promise<TokenView> {
    return view(await lookUp(store.read, principal, 'token', id));
  }

  /**
   * Throws `invalid_request` for an expiry in the past, or `venue_not_found` for a venue that the
   * caller cannot access.
   */
  async function checkReach(
    tx: Tx,
    principal: TenantPrincipal,
    { expiresAt, venueIds }: TokenCreation,
  ): Promise<void> {
    if (expiresAt != null && expiresAt <= tx.now)
      throw invalid([{ path: '/expiresAt', message: 'must be in the future' }]);
    for (const id of venueIds ?? []) await lookUp(tx, principal, 'venue', id);
  }

  /** Repeats the response of a creation, until the token is first used. Throws `not_repeatable`. */
  async function repeatCreation(
    tx: Tx,
    principal: TenantPrincipal,
    id: string,
    token: string,
  ): Promise<CreatedTokenView> {
    const row = await lookUpCreated(tx, principal, 'token', id);
    checkRepeatable(row, token);
    return { ...tokenView(row, {}), token };
  }

  /** Throws `insufficient_role` for a role or venues beyond the caller's. */
  function checkGrant(principal: TenantPrincipal, { role, venueIds }: TokenCreation): void {
    if (!mayAct(principal.role, role))
      throw new SignageError(
        'insufficient_role',
        `Only a ${isPlatformRole(role) ? 'platform' : role} token may create ${role} tokens.`,
      );
    if (principal.venueIds && !venueIds) {
      throw new SignageError(
        'insufficient_role',
        'This token is bound to venues: list the venues of the new token in venueIds.',
      );
    }
  }

  /**
   * Adds a token with this secret. Throws `tenant_not_found`, `venue_not_found`, or
   * `invalid_request` for an expiry in the past.
   */
  async function add(
    tx: Tx,
    principal: TenantPrincipal,
    wanted: TokenCreation,
    { id, secret, isRepeatable }: { id: string; secret: string; isRepeatable: boolean },
  ): Promise<Token> {
    await requireTenant(tx, principal);
    await checkReach(tx, principal, wanted);
    const { name, role, venueIds } = wanted;
    const row: Token = {
      id,
      tenantId: isPlatformRole(role) ? null : principal.tenantId,
      name,
      role,
      hash: hashKey(secret),
      createdAt: tx.stamp,
      bootstrap: false,
      expiresAt: expiryOf(wanted.expiresAt, principal.expiresAt),
      venueIds: venueIds ? [...new Set(venueIds)] : null,
      firstUsedAt: isRepeatable ? null : tx.stamp,
      retiring: null,
    };
    await tx.put('tokens', row);
    return row;
  }

  /**
   * Throws `insufficient_role` for a role or venues beyond the caller's, `venue_not_found`,
   * `name_taken`, or `not_repeatable`.
   */
  async function create(
    principal: TenantPrincipal,
    wanted: TokenCreation,
    request?: IdempotentRequest,
  ): Promise<CreatedTokenView> {
    checkGrant(principal, wanted);
    const begin = await prepareCreation(deps, principal, request);
    return withNameConflict(deps, principal, 'token', wanted.name, async (tx) => {
      const creation = await begin(tx);
      const token = makeKey('mak_', creation.random);
      if (creation.earlierId !== undefined)
        return repeatCreation(tx, principal, creation.earlierId, token);
      const isRepeatable = request !== undefined;
      const row = await add(tx, principal, wanted, {
        id: deps.newId(),
        secret: token,
        isRepeatable,
      });
      await creation.remember(row.id);
      await recordChange(deps, tx, principal, tokenChange('create', row));
      return { ...tokenView(row, {}), token };
    });
  }

  /**
   * Whether this is the last platform token that never expires. It must remain, because all other
   * platform tokens expire.
   */
  async function isLastPermanent(tx: Tx, row: Token): Promise<boolean> {
    if (row.role !== 'platform' || !neverExpires(row)) return false;
    return (await tx.select('tokens', 'role', ['platform'])).filter(neverExpires).length === 1;
  }

  /** Throws `last_token`. */
  async function remove(
    principal: Principal,
    id: string,
    precondition: Precondition = {},
  ): Promise<void> {
    await deps.write(principal, async (tx) => {
      const row = await lookUp(tx, principal, 'token', id);
      checkPrecondition(precondition, revision.token(row));
      if (await isLastPermanent(tx, row)) {
        throw new SignageError(
          'last_token',
          'This is the last platform token that does not expire: create another one first.',
        );
      }
      await tx.delete('tokens', row.id);
      await recordChange(deps, tx, principal, tokenChange('delete', row));
    });
  }

  async function me({ actor, role, tenantId, venueIds, expiresAt }: Principal): Promise<MeView> {
    const tenant = tenantId === null ? undefined : await store.read.get('tenants', tenantId);
    // The actor of a management request is a token, which has an id and a name.
    const { id, name } = actor as { id: string; name: string };
    return {
      tokenId: id,
      name,
      role,
      ...reachView({ expiresAt, venueIds }),
      tenantId,
      tenantName: tenant?.name ?? null,
    };
  }

  return { list, get, create, remove, me, checkGrant, add };
}

export type Tokens = ReturnType<typeof makeTokens>;
