import type { Page } from '../domain/paging.ts';
import type { AuditQuery, AuditView } from '../domain/records/audit.ts';
import type { ReportQuery, ReportRow } from '../domain/records/report.ts';
import type { ServiceDependencies, TenantCaller } from './context.ts';
import { afterId, toPage } from './paging.ts';
import { withinVenues } from './venue-scope.ts';
import { auditView } from './views.ts';

/** The impressions report and the audit trail (docs/protocol.md §5.6, §5.7). */
export function makeReportsAndAudit({ store }: ServiceDependencies) {
  return {
    impressions(caller: TenantCaller, query: ReportQuery): Promise<ReportRow[]> {
      return store.impressions({ ...query, tenantId: caller.tenantId, ...withinVenues(caller) });
    },
    /** Platform callers also see what belongs to no tenant. */
    async audit(
      caller: TenantCaller,
      { cursor, ...filters }: AuditQuery,
    ): Promise<Page<AuditView>> {
      const tenantIds = caller.role === 'platform' ? [caller.tenantId, null] : [caller.tenantId];
      return toPage(
        await store.audit({ ...filters, tenantIds, ...withinVenues(caller), ...afterId(cursor) }),
        auditView,
      );
    },
  };
}
