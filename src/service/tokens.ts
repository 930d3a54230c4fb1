import { hashKey, makeKey } from '../domain/api-key.ts';
import { SignageError } from '../domain/error.ts';
import type { Page } from '../domain/list.ts';
import type { Token } from '../domain/records.ts';
import { mayAct } from '../domain/role.ts';
import type { CreatedTokenView, MeView, TokenCreation, TokenQuery, TokenView } from '../domain/token.ts';
import { type Caller, type Kit, recordChange, type TenantCaller } from './context.ts';
import { holdTenant, lookUp, withName } from './lookup.ts';
import { afterId, named, toPage } from './paging.ts';
import { tokenView } from './views.ts';

/** Management tokens: shown once, stored hashed (docs/protocol.md §5.1). */
export function makeTokens(kit: Kit) {
  const { store } = kit;
  const view = (row: Token): TokenView => tokenView(row, store.marks('token', row.id));

  /** Platform callers see the platform's own tokens too. */
  async function list(caller: TenantCaller, query: TokenQuery): Promise<Page<TokenView>> {
    const tenantId = caller.role === 'platform' ? [caller.tenantId, null] : caller.tenantId;
    return toPage(await store.list('tokens', { where: { tenantId }, ...named(query), ...afterId(query.cursor), limit: query.limit }), view);
  }

  async function get(caller: Caller, id: string): Promise<TokenView> {
    return view(await lookUp(store.read, caller, 'token', id));
  }

  /** Throws `insufficient_role` for a role above the caller's, `name_taken`. */
  async function create(caller: TenantCaller, { name, role }: TokenCreation): Promise<CreatedTokenView> {
    if (!mayAct(caller.role, role)) throw new SignageError('insufficient_role', `Only a ${role} token may make ${role} tokens.`);
    const token = makeKey('mak_', kit.random);
    return withName('token', name, () =>
      store.write(async (tx) => {
        await holdTenant(tx, caller);
        const tenantId = role === 'platform' ? null : caller.tenantId;
        const row: Token = { id: kit.newId(), tenantId, name, role, hash: hashKey(token), createdAt: tx.now, bootstrap: false };
        await tx.put('tokens', row);
        await recordChange(kit, tx, caller, {
          action: 'token.create',
          subject: { kind: 'token', id: row.id },
          tenantId,
          details: { name, role },
        });
        return { ...view(row), token };
      }),
    );
  }

  /** Throws `last_token`. */
  async function remove(caller: Caller, id: string): Promise<void> {
    await store.write(async (tx) => {
      const { id: tokenId, tenantId, name, role } = await lookUp(tx, caller, 'token', id);
      if (role === 'platform' && (await tx.count('tokens', 'role', 'platform')) === 1) {
        throw new SignageError('last_token', 'This is the last platform token: make another one first.');
      }
      await tx.delete('tokens', tokenId);
      await recordChange(kit, tx, caller, {
        action: 'token.delete',
        subject: { kind: 'token', id: tokenId },
        tenantId,
        details: { name, role },
      });
    });
  }

  async function me({ actor, role, tenantId }: Caller): Promise<MeView> {
    const tenant = tenantId === null ? undefined : await store.read.get('tenants', tenantId);
    // A manager's actor is its token, which has both.
    const { id, name } = actor as { id: string; name: string };
    return { tokenId: id, name, role, tenantId, tenantName: tenant?.name ?? null };
  }

  return { list, get, create, remove, me };
}
