import { hashKey, makeKey } from '../../domain/api-key.ts';
import { invalid, SignageError } from '../../domain/error.ts';
import type { Page } from '../../domain/paging.ts';
import { mayAct } from '../../domain/records/role.ts';
import type { Token } from '../../domain/records/rows.ts';
import type {
  CreatedTokenView,
  MeView,
  TokenCreation,
  TokenQuery,
  TokenView,
} from '../../domain/records/token.ts';
import type { ListQuery, Slice, Tx } from '../../store/store.ts';
import {
  type Caller,
  recordChange,
  type ServiceDependencies,
  type TenantCaller,
} from '../context.ts';
import { holdTenant, lookUp, visibleTo, withName } from '../lookup.ts';
import { afterId, named, toPage } from '../paging.ts';
import { venuesOf } from '../venue-scope.ts';
import { reachView, tokenView } from '../views.ts';

const change = (verb: string, row: Token) => ({
  action: `token.${verb}`,
  subject: { kind: 'token', id: row.id },
  tenantId: row.tenantId,
  venueIds: venuesOf('token', row),
  details: { name: row.name, role: row.role },
});

/** A token ends no later than the one that makes it: otherwise one that is about to end could make its own successor. */
const earliest = (asked: number | null | undefined, makers: number | null): number | null =>
  asked == null || makers === null ? (asked ?? makers) : Math.min(asked, makers);

const neverEnds = ({ expiresAt }: Token) => expiresAt == null;

/** Management tokens: shown once, stored hashed (docs/protocol.md §5.1). */
export function makeTokens(deps: ServiceDependencies) {
  const { store } = deps;
  const view = async (row: Token): Promise<TokenView> =>
    tokenView(row, await store.marks('token', row.id));

  /** A page of the tokens that a caller may know of. What it is bound to, no index knows: the others are passed over. */
  async function visiblePage(
    caller: TenantCaller,
    query: ListQuery<'tokens'>,
  ): Promise<Slice<Token>> {
    if (caller.venueIds === null) return store.list('tokens', query);
    const items: Token[] = [];
    for (let after = query.after; ; ) {
      const slice = await store.list('tokens', {
        ...query,
        ...(after === undefined ? {} : { after }),
      });
      for (const row of slice.items) {
        if (!visibleTo(caller, 'token', row)) continue;
        if (items.length === query.limit) return { items, next: items.at(-1)?.id ?? null };
        items.push(row);
      }
      if (slice.next === null) return { items, next: null };
      after = slice.next;
    }
  }

  /** Platform callers see the platform's own tokens too. */
  async function list(caller: TenantCaller, query: TokenQuery): Promise<Page<TokenView>> {
    const tenantId = caller.role === 'platform' ? [caller.tenantId, null] : caller.tenantId;
    return toPage(
      await visiblePage(caller, {
        where: { tenantId },
        ...named(query),
        ...afterId(query.cursor),
        limit: query.limit,
      }),
      view,
    );
  }

  async function get(caller: Caller, id: string): Promise<TokenView> {
    return view(await lookUp(store.read, caller, 'token', id));
  }

  /** Nobody hands on more than they have: neither a higher role, nor more venues. */
  async function checkReach(
    tx: Tx,
    caller: TenantCaller,
    { expiresAt, venueIds }: TokenCreation,
  ): Promise<void> {
    if (expiresAt != null && expiresAt <= tx.now)
      throw invalid([{ path: '/expiresAt', message: 'must be in the future' }]);
    for (const id of venueIds ?? []) await lookUp(tx, caller, 'venue', id);
  }

  /** Throws `insufficient_role` for a role, or a reach, above the caller's, `venue_not_found`, `name_taken`. */
  async function create(caller: TenantCaller, creation: TokenCreation): Promise<CreatedTokenView> {
    const { name, role, venueIds } = creation;
    if (!mayAct(caller.role, role))
      throw new SignageError('insufficient_role', `Only a ${role} token may make ${role} tokens.`);
    if (caller.venueIds && !venueIds) {
      throw new SignageError(
        'insufficient_role',
        'This token is bound to venues: name in venueIds for which of them the new one is.',
      );
    }
    const token = makeKey('mak_', deps.random);
    return withName({ store, caller }, 'token', name, () =>
      deps.write(caller, async (tx) => {
        await holdTenant(tx, caller);
        await checkReach(tx, caller, creation);
        const tenantId = role === 'platform' ? null : caller.tenantId;
        const reach = {
          expiresAt: earliest(creation.expiresAt, caller.expiresAt),
          venueIds: venueIds ? [...new Set(venueIds)] : null,
        };
        const made = {
          id: deps.newId(),
          tenantId,
          name,
          role,
          hash: hashKey(token),
          createdAt: tx.now,
        };
        const row: Token = { ...made, bootstrap: false, ...reach };
        await tx.put('tokens', row);
        await recordChange(deps, tx, caller, change('create', row));
        return { ...tokenView(row, {}), token };
      }),
    );
  }

  /** One that never ends stays, for the others will leave nobody. */
  async function isLast(tx: Tx, row: Token): Promise<boolean> {
    if (row.role !== 'platform' || !neverEnds(row)) return false;
    return (await tx.select('tokens', 'role', ['platform'])).filter(neverEnds).length === 1;
  }

  /** Throws `last_token`. */
  async function remove(caller: Caller, id: string): Promise<void> {
    await deps.write(caller, async (tx) => {
      const row = await lookUp(tx, caller, 'token', id);
      if (await isLast(tx, row)) {
        throw new SignageError(
          'last_token',
          'This is the last platform token that does not expire: make another one first.',
        );
      }
      await tx.delete('tokens', row.id);
      await recordChange(deps, tx, caller, change('delete', row));
    });
  }

  async function me({ actor, role, tenantId, venueIds, expiresAt }: Caller): Promise<MeView> {
    const tenant = tenantId === null ? undefined : await store.read.get('tenants', tenantId);
    // A manager's actor is its token, which has both.
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

  return { list, get, create, remove, me };
}
