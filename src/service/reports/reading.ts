import { dayMs, iso } from '../../domain/clock.ts';
import type { Page } from '../../domain/paging.ts';
import type { AuditEntry, AuditQuery, AuditView } from '../../domain/records/audit.ts';
import {
  dayOf,
  firstDay,
  type ImpressionReport,
  type ReportGroup,
  type ReportQuery,
  type ReportRow,
} from '../../domain/records/report.ts';
import type { ImpressionQuery } from '../../store/queries.ts';
import type { ServiceDependencies, TenantPrincipal } from '../context.ts';
import { venueScopeFilter } from '../lookup.ts';
import { afterId, toPage } from '../paging.ts';
import { campaignRowId } from '../versions/versions.ts';

function auditView(row: AuditEntry): AuditView {
  const { id, actor, action, subject, address, requestId, details } = row;
  return { id, at: iso(row.at), actor, action, subject, address, requestId, details };
}

/** The impressions report and the audit trail (docs/protocol.md §5.6, §5.7). */
export function makeReading({ store, clock }: ServiceDependencies) {
  /** Counts impressions with impossible days that a report of this time does not contain. */
  async function misdated(query: ImpressionQuery): Promise<ImpressionReport['misdated']> {
    const { from, to } = query;
    if (query.by === 'received') return null;
    const farDay = dayOf(clock.now() + 2 * dayMs);
    const outside = [
      ...(from === undefined ? [] : [{ from: undefined, to: from < firstDay ? from : firstDay }]),
      ...(to === undefined ? [] : [{ from: to > farDay ? to : farDay, to: undefined }]),
    ];
    const count = async (groupBy: ReportGroup) => {
      const search = (range: (typeof outside)[number]) =>
        store.impressions({ ...query, ...range, groupBy });
      return (await Promise.all(outside.map(search))).flat();
    };
    const days = await count('day');
    const [first] = days;
    const last = days.at(-1);
    if (!first || !last) return null;
    const screens = new Set((await count('screen')).map(({ key }) => key));
    return {
      impressions: days.reduce((sum, { impressions }) => sum + impressions, 0),
      screens: screens.size,
      firstDay: first.key,
      lastDay: last.key,
    };
  }

  async function impressions(
    principal: TenantPrincipal,
    report: ReportQuery,
  ): Promise<ImpressionReport> {
    const { tenantId } = principal;
    const query = { ...report, tenantId, ...venueScopeFilter(principal) };
    const rows = (await store.impressions(query)).map((row) => ({
      ...row,
      // A sum of binary fractions has digits that no TV has reported.
      seconds: Math.round(row.seconds * 1000) / 1000,
    }));
    const items = report.groupBy === 'campaign' ? await withNames(tenantId, rows) : rows;
    return { items, misdated: await misdated(query) };
  }

  /** Adds the names of campaigns. */
  function withNames(tenantId: string, rows: readonly ReportRow[]): Promise<ReportRow[]> {
    return Promise.all(
      rows.map(async ({ key, ...sums }) => {
        const found = await store.read.get('campaigns', campaignRowId(tenantId, key));
        return { key, name: found?.name ?? null, ...sums };
      }),
    );
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
