import type { ReportQuery, ReportRow } from '../domain/records/report.ts';
import type { ServiceDependencies, TenantCaller } from './context.ts';
import { venueScopeFilter } from './venue-scope.ts';

/** The impressions report (docs/protocol.md §5.6). */
export function makeReports({ store }: ServiceDependencies) {
  return {
    impressions(caller: TenantCaller, query: ReportQuery): Promise<ReportRow[]> {
      return store.impressions({
        ...query,
        tenantId: caller.tenantId,
        ...venueScopeFilter(caller),
      });
    },
  };
}
