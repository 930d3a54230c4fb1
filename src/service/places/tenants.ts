import { iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { checkPrecondition, type Precondition, revision } from '../../domain/etags/etag.ts';
import type { Page } from '../../domain/paging.ts';
import type { AuditVerb } from '../../domain/records/audit.ts';
import type { Tenant } from '../../domain/records/rows.ts';
import type {
  TenantCreation,
  TenantPatch,
  TenantQuery,
  TenantView,
} from '../../domain/records/tenant.ts';
import type { Tx } from '../../store/store.ts';
import { type Principal, recordChange, type ServiceDependencies } from '../context.ts';
import { type IdempotentRequest, lookUpCreated, prepareCreation } from '../creations.ts';
import { changeOf, lookUp, withNameConflict } from '../lookup.ts';
import { removeMediaOfTenant } from '../media/media-records.ts';
import { pageFilters, toPage } from '../paging.ts';
import { deleteWebhooksOfTenant } from '../webhooks/webhooks.ts';

/** Describes a change of a tenant for the audit trail. */
function tenantView(row: Tenant): TenantView {
  return {
    id: row.id,
    name: row.name,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

export const tenantChange = (verb: AuditVerb<'tenant'>, row: Tenant) =>
  changeOf('tenant', verb, row, { name: row.name });

/** Tenants, which platform tokens manage (docs/protocol.md §5.3). */
export function makeTenants(deps: ServiceDependencies) {
  const { store } = deps;

  async function list(query: TenantQuery, signal?: AbortSignal): Promise<Page<TenantView>> {
    return toPage(
      await store.list('tenants', {
        ...pageFilters(query, signal),
      }),
      tenantView,
    );
  }

  async function get(principal: Principal, id: string): Promise<TenantView> {
    return tenantView(await lookUp(store.read, principal, 'tenant', id));
  }

  async function create(
    principal: Principal,
    { name }: TenantCreation,
    request?: IdempotentRequest,
  ): Promise<TenantView> {
    // The `Idempotency-Key` applies without a tenant, because the new tenant may change the tenant
    // that a platform token acts in by default.
    const begin = await prepareCreation(deps, { ...principal, tenantId: null }, request);
    return withNameConflict(deps, principal, 'tenant', name, async (tx) => {
      const creation = await begin(tx);
      if (creation.earlierId !== undefined)
        return tenantView(await lookUpCreated(tx, principal, 'tenant', creation.earlierId));
      const row = { id: deps.newId(), name, createdAt: tx.stamp, updatedAt: tx.stamp };
      await tx.put('tenants', row);
      await creation.remember(row.id);
      await recordChange(deps, tx, principal, tenantChange('create', row));
      return tenantView(row);
    });
  }

  async function update(
    principal: Principal,
    id: string,
    patch: TenantPatch,
    precondition: Precondition = {},
  ): Promise<TenantView> {
    return withNameConflict(deps, principal, 'tenant', patch.name ?? '', async (tx) => {
      const before = await lookUp(tx, principal, 'tenant', id);
      checkPrecondition(precondition, revision.tenant(before));
      const name = patch.name ?? before.name;
      if (name === before.name) return tenantView(before);
      const row = { ...before, name, updatedAt: tx.stamp };
      await tx.put('tenants', row);
      await recordChange(deps, tx, principal, tenantChange('update', row));
      return tenantView(row);
    });
  }

  /**
   * Deletes the tenant's tokens, each with its own audit entry. A restored backup makes deleted
   * tokens work again. From the entries, the operator knows which tokens to delete again.
   */
  async function deleteTokens(tx: Tx, principal: Principal, tenantId: string): Promise<void> {
    for (const { id, name, role } of await tx.select('tokens', 'tenantId', [tenantId])) {
      await tx.delete('tokens', id);
      const subject = { kind: 'token', id };
      await recordChange(deps, tx, principal, {
        action: 'token.delete',
        subject,
        tenantId: null,
        details: { name, role, tenantId },
      });
    }
  }

  /**
   * Deletes a tenant with its tokens, webhooks, media, campaigns and config. Throws
   * `tenant_not_empty` or `last_tenant`.
   */
  async function remove(
    principal: Principal,
    id: string,
    precondition: Precondition = {},
  ): Promise<void> {
    const others = await store.list('tenants', { limit: 2 });
    await deps.write(principal, async (tx) => {
      const row = await lookUp(tx, principal, 'tenant', id);
      checkPrecondition(precondition, revision.tenant(row));
      if ((await tx.count('venues', 'tenantId', row.id)) > 0) {
        throw new SignageError(
          'tenant_not_empty',
          `The tenant ${JSON.stringify(row.name)} has venues: delete them first.`,
        );
      }
      if (await hasNoOther(tx, row.id, others.items))
        throw new SignageError('last_tenant', 'This is the last tenant: create another one first.');
      await deleteTokens(tx, principal, row.id);
      await deleteWebhooksOfTenant(tx, row.id);
      await removeMediaOfTenant(tx, row.id);
      for (const { id } of await tx.select('campaigns', 'tenantId', [row.id]))
        await tx.delete('campaigns', id);
      await tx.delete('configs', `tenant/${row.id}`);
      await tx.delete('tenants', row.id);
      await recordChange(deps, tx, principal, { ...tenantChange('delete', row), tenantId: null });
    });
  }

  return { list, get, create, update, remove };
}

/**
 * Whether no other tenant exists. `others` are tenants listed before the change: each may have been
 * deleted since.
 */
async function hasNoOther(tx: Tx, id: string, others: { id: string }[]): Promise<boolean> {
  for (const other of others) {
    if (other.id !== id && (await tx.get('tenants', other.id))) return false;
  }
  return true;
}
