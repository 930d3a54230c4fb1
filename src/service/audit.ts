import type { Page } from '../domain/paging.ts';
import type { AuditQuery, AuditView } from '../domain/records/audit.ts';
import type { ServiceDependencies, TenantCaller } from './context.ts';
import { afterId, toPage } from './paging.ts';
import { venueScopeFilter } from './venue-scope.ts';
import { auditView } from './views.ts';

/** Reads the audit trail (docs/protocol.md §5.7). */
export function makeAudit({ store }: ServiceDependencies) {
  return {
    /** Platform callers also see entries that belong to no tenant. */
    async audit(
      caller: TenantCaller,
      { cursor, ...filters }: AuditQuery,
    ): Promise<Page<AuditView>> {
      const tenantIds = caller.role === 'platform' ? [caller.tenantId, null] : [caller.tenantId];
      return toPage(
        await store.audit({
          ...filters,
          tenantIds,
          ...venueScopeFilter(caller),
          ...afterId(cursor),
        }),
        auditView,
      );
    },
  };
}
