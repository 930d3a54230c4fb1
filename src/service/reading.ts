import type { Page } from '../domain/paging.ts';
import type { AuditQuery, AuditView } from '../domain/records/audit.ts';
import type { ReportQuery, ReportRow } from '../domain/records/report.ts';
import type { ServiceDependencies, TenantPrincipal } from './context.ts';
import { venueScopeFilter } from './lookup.ts';
import { afterId, toPage } from './paging.ts';
import { auditView } from './views.ts';

/** The impressions report and the audit trail (docs/protocol.md §5.6, §5.7). */
export function makeReading({ store }: ServiceDependencies) {
  function impressions(principal: TenantPrincipal, query: ReportQuery): Promise<ReportRow[]> {
    const { tenantId } = principal;
    return store.impressions({ ...query, tenantId, ...venueScopeFilter(principal) });
  }

  /** Callers with a platform token also see entries that belong to no tenant. */
  async function audit(
    principal: TenantPrincipal,
    { cursor, ...filters }: AuditQuery,
  ): Promise<Page<AuditView>> {
    const tenantIds =
      principal.role === 'platform' ? [principal.tenantId, null] : [principal.tenantId];
    const slice = await store.audit({
      ...filters,
      tenantIds,
      ...venueScopeFilter(principal),
      ...afterId(cursor),
    });
    return toPage(slice, auditView);
  }

  return { impressions, audit };
}
