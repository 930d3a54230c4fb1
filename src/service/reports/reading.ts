import { iso } from '../../domain/clock.ts';
import type { Page } from '../../domain/paging.ts';
import type { AuditEntry, AuditQuery, AuditView } from '../../domain/records/audit.ts';
import type { ServiceDependencies, TenantPrincipal } from '../context.ts';
import { venueScopeFilter } from '../lookup.ts';
import { afterId, toPage } from '../paging.ts';
import { makeImpressionReport } from './impressions.ts';
import { makePlayList } from './play-list.ts';

function auditView(row: AuditEntry): AuditView {
  const { id, actor, action, subject, address, requestId, details } = row;
  return { id, at: iso(row.at), actor, action, subject, address, requestId, details };
}

/** The impressions report and the audit trail (docs/protocol.md §5.6, §5.7). */
export function makeReading(deps: ServiceDependencies) {
  const { store } = deps;

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

  return { impressions: makeImpressionReport(deps), plays: makePlayList(deps), audit };
}
