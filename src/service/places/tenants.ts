import { SignageError } from '../../domain/error.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import type { Page } from '../../domain/paging.ts';
import type {
  TenantCreation,
  TenantPatch,
  TenantQuery,
  TenantView,
} from '../../domain/records/tenant.ts';
import type { Tx } from '../../store/store.ts';
import { type Caller, recordChange, type ServiceDependencies } from '../context.ts';
import { lookUp, withName } from '../lookup.ts';
import { afterId, named, toPage } from '../paging.ts';
import { tenantView } from '../views.ts';

/** Tenants, kept by platform tokens (docs/protocol.md §5.3). */
export function makeTenants(deps: ServiceDependencies) {
  const { store } = deps;

  async function list(query: TenantQuery): Promise<Page<TenantView>> {
    return toPage(
      await store.list('tenants', {
        ...named(query),
        ...afterId(query.cursor),
        limit: query.limit,
      }),
      tenantView,
    );
  }

  async function get(caller: Caller, id: string): Promise<TenantView> {
    return tenantView(await lookUp(store.read, caller, 'tenant', id));
  }

  async function create(caller: Caller, { name }: TenantCreation): Promise<TenantView> {
    return withName({ store, caller }, 'tenant', name, () =>
      deps.write(caller, async (tx) => {
        const row = { id: deps.newId(), name, createdAt: tx.now, updatedAt: tx.now };
        await tx.put('tenants', row);
        await recordChange(deps, tx, caller, {
          action: 'tenant.create',
          subject: { kind: 'tenant', id: row.id },
          tenantId: row.id,
          details: { name },
        });
        return tenantView(row);
      }),
    );
  }

  async function update(caller: Caller, id: string, patch: TenantPatch): Promise<TenantView> {
    return withName({ store, caller }, 'tenant', patch.name ?? '', () =>
      deps.write(caller, async (tx) => {
        const before = await lookUp(tx, caller, 'tenant', id);
        const name = patch.name ?? before.name;
        if (name === before.name) return tenantView(before);
        const row = { ...before, name, updatedAt: tx.now };
        await tx.put('tenants', row);
        await recordChange(deps, tx, caller, {
          action: 'tenant.update',
          subject: { kind: 'tenant', id: row.id },
          tenantId: row.id,
          details: { name },
        });
        return tenantView(row);
      }),
    );
  }

  /** Ends the tenant's tokens, each with an entry of its own: whoever puts a backup back must learn which of them work again. */
  async function endTokens(tx: Tx, caller: Caller, tenantId: string): Promise<void> {
    for (const { id, name, role } of await tx.select('tokens', 'tenantId', [tenantId])) {
      await tx.delete('tokens', id);
      const subject = { kind: 'token', id };
      await recordChange(deps, tx, caller, {
        action: 'token.delete',
        subject,
        tenantId: null,
        details: { name, role, tenantId },
      });
    }
  }

  /** Its tokens and its config go with it. Throws `tenant_not_empty`, `last_tenant`. */
  async function remove(caller: Caller, id: string): Promise<void> {
    const others = await store.list('tenants', { limit: 2 });
    await deps.write(caller, async (tx) => {
      const row = await lookUp(tx, caller, 'tenant', id);
      if ((await tx.count('venues', 'tenantId', row.id)) > 0) {
        throw new SignageError(
          'tenant_not_empty',
          `The tenant ${JSON.stringify(row.name)} has venues: delete them first.`,
        );
      }
      if (await isLast(tx, row.id, others.items))
        throw new SignageError('last_tenant', 'This is the last tenant: make another one first.');
      await endTokens(tx, caller, row.id);
      await tx.delete('configs', `tenant/${row.id}`);
      await tx.delete('tenants', row.id);
      const subject = { kind: 'tenant', id: row.id };
      await recordChange(deps, tx, caller, {
        action: 'tenant.delete',
        subject,
        tenantId: null,
        details: { name: row.name },
      });
    });
  }

  return { list, get, create, update, remove };
}

/** Whether none of the tenants that were seen before the change is still there but this one. */
async function isLast(
  tx: { get(table: 'tenants', id: string): MaybePromise<unknown> },
  id: string,
  seen: { id: string }[],
): Promise<boolean> {
  for (const other of seen) {
    if (other.id !== id && (await tx.get('tenants', other.id))) return false;
  }
  return true;
}
