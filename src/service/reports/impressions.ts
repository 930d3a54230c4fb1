import { dayMs } from '../../domain/clock.ts';
import { roundedSeconds } from '../../domain/events/plays.ts';
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
import { showsBookings, withBookings } from './bookings.ts';
import { makeNames, makeRows } from './names.ts';
import { type PlayFilter, type PlayTotal, PlayTotals } from './play-totals.ts';
import { filterOf } from './report-scope.ts';

const dayNumberOf = (day: string) => Date.parse(day) / dayMs;
const dayName = (day: number) => dayOf(day * dayMs);

/** One report: its groups and clock, and which counts it adds up. */
interface Report {
  tenantId: string;
  groups: readonly ReportGroup[];
  by: ReportQuery['by'];
  filter: PlayFilter;
  /** Venues of the tenant whose impressions 0.1.0 has counted. `undefined`: all. */
  oldVenueIds: readonly string[] | undefined;
}

/** The report of impressions and plays (docs/protocol.md §5.6). */
export function makeImpressionReport({ store, clock }: ServiceDependencies) {
  /** Adds up the counts of batches with offsets. */
  function countPlays({ tenantId, groups, by, filter }: Report): Promise<PlayTotals> {
    const { days, from, to } = filter;
    // A local day has parts of the UTC days before and after.
    const margin = days === 'venue' ? 1 : 0;
    const query = {
      tenantId,
      by,
      from: from === undefined ? undefined : dayNumberOf(from) - margin,
      to: to === undefined ? undefined : dayNumberOf(to) + margin,
    };
    return store.plays(query, () => new PlayTotals(groups, filter));
  }

  /** Returns the query for impressions that 0.1.0 has counted. They have UTC days. */
  function oldQuery(
    { tenantId, by, filter, oldVenueIds: venueIds }: Report,
    groupBy: ReportGroup,
  ): ImpressionQuery {
    const { from, to, simulated } = filter;
    return { tenantId, by, groupBy, from, to, simulated, ...(venueIds && { venueIds }) };
  }

  /**
   * Returns those of the venues that are the tenant's. The counters of 0.1.0 do not say whose venue
   * they count, and a caller may name any id.
   */
  async function oldVenuesOf(
    tenantId: string,
    by: ReportQuery['by'],
    { venueIds }: PlayFilter,
  ): Promise<Report['oldVenueIds']> {
    if (venueIds === undefined) return undefined;
    const counted = await store.impressions({ tenantId, by, groupBy: 'venue' });
    return counted.map(({ key }) => key).filter((id) => venueIds.has(id));
  }

  /**
   * Adds the impressions that 0.1.0 has counted by each group alone. Returns how many cannot be
   * added, because the report has two groups, or screens that such groups do not know.
   */
  async function addOldCounts(report: Report, totals: PlayTotals): Promise<number> {
    const { groups, filter } = report;
    const { screenIds } = filter;
    const all = await store.impressions(oldQuery(report, screenIds ? 'screen' : 'day'));
    const counted = all.filter(({ key }) => screenIds?.has(key) ?? true);
    if (counted.length === 0) return 0;
    const others = groups.filter((group) => group !== 'day');
    const [group = 'day'] = others;
    const isKnown = !screenIds || (group === 'screen' && others.length === 1);
    if (others.length > 1 || !isKnown)
      return counted.reduce((sum, { impressions }) => sum + impressions, 0);
    if (groups.length === 1) {
      const rows =
        group === 'day' || screenIds ? counted : await store.impressions(oldQuery(report, group));
      for (const { key, impressions, seconds } of rows)
        totals.addImpressions([key], impressions, seconds);
      return 0;
    }
    for (const { key: day } of await store.impressions(oldQuery(report, 'day'))) {
      const query = { ...oldQuery(report, group), from: day, to: dayName(dayNumberOf(day) + 1) };
      for (const { key, impressions, seconds } of await store.impressions(query)) {
        if (screenIds && !screenIds.has(key)) continue;
        const keys = groups.map((one) => (one === 'day' ? day : key));
        totals.addImpressions(keys, impressions, seconds);
      }
    }
    return 0;
  }

  async function totalsOf(report: Report): Promise<{ totals: PlayTotal[]; ungrouped: number }> {
    const totals = await countPlays(report);
    const ungrouped = await addOldCounts(report, totals);
    return { totals: totals.rows(), ungrouped };
  }

  /** Counts impressions with impossible days that a report of this time does not contain. */
  async function misdated(report: Report): Promise<ImpressionReport['misdated']> {
    const { from, to } = report.filter;
    if (report.by === 'received') return null;
    const farDay = dayOf(clock.now() + 2 * dayMs);
    const outside = [
      ...(from === undefined ? [] : [{ from: undefined, to: from < firstDay ? from : firstDay }]),
      ...(to === undefined ? [] : [{ from: to > farDay ? to : farDay, to: undefined }]),
    ];
    const countBy = async (group: ReportGroup): Promise<PlayTotal[]> => {
      const found: PlayTotal[] = [];
      for (const range of outside) {
        const filter: PlayFilter = { ...report.filter, days: 'utc', ...range };
        const { totals } = await totalsOf({ ...report, groups: [group], filter });
        for (const total of totals) if (total.impressions > 0) found.push(total);
      }
      return found;
    };
    const days = await countBy('day');
    const [first] = days;
    const last = days.at(-1);
    if (!first || !last) return null;
    const screens = new Set((await countBy('screen')).map(({ key }) => key));
    return {
      impressions: days.reduce((sum, { impressions }) => sum + impressions, 0),
      screens: screens.size,
      firstDay: first.key,
      lastDay: last.key,
    };
  }

  /**
   * Returns the first venue day of which a report has all impressions. What 0.1.0 has received was
   * played before the end of the last UTC day of receipt, which is the next day in some zones.
   */
  async function venueDaysSince(report: Report): Promise<string | null> {
    const { days, from } = report.filter;
    if (days === 'utc') return null;
    const { tenantId, venueIds } = oldQuery(report, 'day');
    const query = { tenantId, ...(venueIds && { venueIds }), groupBy: 'day' } as const;
    const last = (await store.impressions({ ...query, by: 'received' })).at(-1);
    if (!last) return null;
    const since = dayName(dayNumberOf(last.key) + 2);
    return from !== undefined && from >= since ? null : since;
  }

  async function withNames(
    { tenantId, groups }: Report,
    totals: readonly PlayTotal[],
  ): Promise<ReportRow[]> {
    const nameOf = makeNames(store.read, tenantId);
    const [first = 'campaign', second] = groups;
    return makeRows(totals, async (total) => {
      const { key, key2, impressions, seconds, partial, unknown, plays } = total;
      const other = second && key2 !== undefined && { key2, name2: await nameOf(second, key2) };
      return {
        key,
        name: await nameOf(first, key),
        ...other,
        impressions,
        seconds: roundedSeconds(seconds),
        fullPlays: impressions + plays - partial - unknown,
        partialPlays: partial,
        unknownPlays: unknown,
        plays,
      };
    });
  }

  return async (principal: TenantPrincipal, query: ReportQuery): Promise<ImpressionReport> => {
    const { groupBy: groups, by, ...scope } = query;
    const filter = await filterOf({ store }, principal, scope);
    const { tenantId } = principal;
    const oldVenueIds = await oldVenuesOf(tenantId, by, filter);
    const report: Report = { tenantId, groups, by, filter, oldVenueIds };
    const { totals, ungrouped } = await totalsOf(report);
    const rows = await withNames(report, totals);
    return {
      items: showsBookings(principal, query)
        ? await withBookings(store, tenantId, query, rows)
        : rows,
      misdated: await misdated(report),
      venueDaysSince: await venueDaysSince(report),
      ungrouped: ungrouped || null,
    };
  };
}
