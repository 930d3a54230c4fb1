import { dayMs, hourMs } from '../../domain/clock.ts';
import type {
  CoverageGroup,
  CoverageQuery,
  CoverageReport,
  CoverageRow,
} from '../../domain/planned/coverage.ts';
import { dayOf } from '../../domain/records/report.ts';
import type { EventPageQuery } from '../../store/queries.ts';
import type { ServiceDependencies, TenantPrincipal } from '../context.ts';
import { venueScopeFilter } from '../lookup.ts';
import { makeNames, makeRows } from '../reports/names.ts';
import { checkRowCount, type PlayFilter, passesPlace } from '../reports/play-totals.ts';
import { aheadMs, filterOf, purgedBefore } from '../reports/report-scope.ts';
import { makeTurnTaker } from '../reports/turns.ts';
import { DueTimes } from './due-times.ts';
import { makeHistories, type ScreenHistory } from './histories.ts';
import { divideTimes } from './loops.ts';
import { PlayedEvents } from './played.ts';

const eventsPerPage = 1000;
/** Local clocks are ahead of UTC by at most this. */
const zoneMs = 15 * hourMs;

type Caller = Pick<TenantPrincipal, 'tenantId' | 'venueIds'>;

const emptySums = () => ({
  plannedMs: 0,
  coveredMs: 0,
  playedMs: 0,
  plays: 0,
  late: 0,
  unplaced: 0,
});
type Sums = ReturnType<typeof emptySums>;

/** Adds up what was planned and played, by group. */
class CoverageSums {
  readonly #groupBy: CoverageGroup;
  readonly #rows = new Map<string, Sums>();
  readonly #incomplete = new Set<string>();
  /** Days before this one are incomplete, and so are campaigns and creatives if there is one. */
  #firstWhole = 0;

  constructor(groupBy: CoverageGroup) {
    this.#groupBy = groupBy;
  }

  /** Returns the sums of what is of one group, or `undefined` if it is of none. */
  of(subject: Record<Exclude<CoverageGroup, 'day'>, string> & { day: number }): Sums | undefined {
    const key =
      this.#groupBy === 'day' ? dayOf(subject.day * dayMs) : subject[this.#groupBy].toLowerCase();
    return key === '' ? undefined : this.row(key);
  }

  row(key: string): Sums {
    const row = this.#rows.get(key) ?? emptySums();
    this.#rows.set(key, row);
    checkRowCount(this.#rows.size);
    return row;
  }

  /**
   * @param firstWhole the first day of which all is known
   * @param keys screens and venues
   */
  markIncomplete(firstWhole: number, ...keys: readonly string[]): void {
    for (const key of keys) this.#incomplete.add(key);
    this.#firstWhole = Math.max(this.#firstWhole, firstWhole);
  }

  isIncomplete(key: string): boolean {
    if (this.#groupBy === 'screen' || this.#groupBy === 'venue') return this.#incomplete.has(key);
    const day = this.#groupBy === 'day' ? Date.parse(key) / dayMs : 0;
    return day < this.#firstWhole;
  }

  entries(): [string, Sums][] {
    return [...this.#rows].sort(([one], [other]) => (one < other ? -1 : 1));
  }
}

const sumOrNull = (numbers: readonly (number | null)[]): number | null =>
  numbers.length === 0 || numbers.includes(null)
    ? null
    : numbers.reduce<number>((sum, number) => sum + (number ?? 0), 0);

/** The report of what was planned and what was played (docs/protocol.md §5.6). */
export function makeCoverage(deps: Pick<ServiceDependencies, 'store' | 'clock'>) {
  const { store, clock } = deps;
  const histories = makeHistories(deps);

  /** Adds what was due. Returns when something was due on each screen. */
  async function addPlanned(
    sums: CoverageSums,
    groupBy: CoverageGroup,
    screens: AsyncIterable<ScreenHistory>,
    { days, from, to }: PlayFilter,
    knownFromMs: number,
    signal: AbortSignal | undefined,
  ): Promise<DueTimes> {
    // The calendar takes 5 MB.
    const { makePastPlanner } = await import('./planned.ts');
    const planner = makePastPlanner(days);
    const startMs = from === undefined ? 0 : Date.parse(from) - zoneMs;
    const endMs = to === undefined ? clock.now() : Math.min(clock.now(), Date.parse(to) + zoneMs);
    const times = new Map<string | null, number>();
    const dueTimes = new DueTimes();
    const takeTurns = makeTurnTaker();
    for await (const { screen, history } of screens) {
      const { id, venueId, createdAt, deletedAt } = screen;
      const subject = { screen: id, venue: venueId, campaign: '', creative: '' };
      const isKnown = createdAt >= knownFromMs || startMs >= knownFromMs;
      if (!isKnown) {
        const { timezone } = history.present.venue ?? {};
        sums.markIncomplete(planner.dayAt(knownFromMs - 1, timezone) + 1, id, venueId);
      }
      const range = {
        fromMs: Math.max(startMs, knownFromMs),
        untilMs: Math.min(endMs, deletedAt ?? endMs),
      };
      if (range.fromMs >= range.untilMs) continue;
      for (const parts of planner.parts(history, range)) {
        await takeTurns();
        if (signal?.aborted) return dueTimes;
        for (const { day, fromMs, untilMs, contentId } of parts) {
          const name = dayOf(day * dayMs);
          if ((from !== undefined && name < from) || (to !== undefined && name >= to)) continue;
          dueTimes.add(id, fromMs, untilMs);
          const ms = untilMs - fromMs;
          const row = sums.of({ ...subject, day });
          if (row) row.plannedMs += ms;
          else times.set(contentId, (times.get(contentId) ?? 0) + ms);
        }
      }
    }
    if (groupBy !== 'campaign' && groupBy !== 'creative') return dueTimes;
    await divideTimes(store.read, times, `${groupBy}Id`, {
      add: (id, ms) => {
        sums.row(id).plannedMs += ms;
      },
      isUnknown: () => sums.markIncomplete(Number.POSITIVE_INFINITY),
      takeTurns,
    });
    return dueTimes;
  }

  /** Adds what TVs have reported. Returns the lost events by screen, and the venues of screens. */
  async function addPlayed(
    sums: CoverageSums,
    { tenantId }: Caller,
    filter: PlayFilter,
    { dueTimes, purgedMs }: { dueTimes: DueTimes; purgedMs: number },
    signal: AbortSignal | undefined,
  ): Promise<{ lost: Map<string, number | null>; venueOf: Map<string, string> }> {
    const fromMs = filter.from === undefined ? 0 : Date.parse(filter.from) - aheadMs;
    const registered = new Map<string, number>();
    const played = new PlayedEvents(filter.days, Math.max(fromMs, purgedMs), async (deviceId) => {
      const known = registered.get(deviceId);
      if (known !== undefined) return known;
      const time = (await store.read.get('devices', deviceId))?.createdAt ?? 0;
      registered.set(deviceId, time);
      return time;
    });
    const venueOf = new Map<string, string>();
    const query: EventPageQuery = {
      tenantId,
      ...venueScopeFilter({ venueIds: filter.venueIds ? [...filter.venueIds] : null }),
      order: 'asc',
      limit: eventsPerPage,
      from: filter.from === undefined ? undefined : fromMs,
    };
    for (let after: string | null | undefined; after !== null && !signal?.aborted; ) {
      const page = await store.events({ ...query, ...(after && { after }) });
      for (const stored of page.items) {
        const { venueId: venue, screenId: screen, simulated = false, receivedAt } = stored;
        const isWithin = (day: number) =>
          passesPlace({ venueId: venue, screenId: screen, simulated }, dayOf(day * dayMs), filter);
        const isOfPeriod = isWithin(played.dayAt(receivedAt, stored));
        if (isOfPeriod) venueOf.set(screen, venue);
        const play = simulated ? undefined : await played.read(stored, isOfPeriod);
        if (!play || !isWithin(play.day)) continue;
        const { day, isPlaced, isLate, endMs, ms } = play;
        const { campaignId: campaign, creativeId: creative } = play;
        const row = sums.of({ screen, venue, campaign, creative, day });
        if (!row) continue;
        if (!isPlaced) row.unplaced++;
        else {
          row.plays++;
          row.playedMs += ms;
          row.coveredMs += dueTimes.between(screen, endMs - ms, endMs);
          if (isLate) row.late++;
        }
      }
      after = page.next;
    }
    return { lost: played.lost(), venueOf };
  }

  return async (
    principal: Caller,
    { groupBy, ...scope }: CoverageQuery,
    signal?: AbortSignal,
  ): Promise<CoverageReport> => {
    const { tenantId } = principal;
    const filter = await filterOf({ store }, principal, { ...scope, simulated: 'exclude' });
    const { inputsSince = clock.now() } = (await store.read.get('clocks', 'clock')) ?? {};
    const purgedMs = await purgedBefore(store);
    const knownFromMs = Math.max(inputsSince, purgedMs);
    const sums = new CoverageSums(groupBy);
    const screens = histories(tenantId, filter);
    const dueTimes = await addPlanned(sums, groupBy, screens, filter, knownFromMs, signal);
    const known = { dueTimes, purgedMs };
    const { lost, venueOf } = await addPlayed(sums, principal, filter, known, signal);
    const hasLost = groupBy === 'screen' || groupBy === 'venue';
    const lostBy = new Map<string, (number | null)[]>();
    for (const [screenId, number] of lost) {
      const key = groupBy === 'venue' ? (venueOf.get(screenId) ?? '') : screenId;
      lostBy.set(key, [...(lostBy.get(key) ?? []), number]);
      if (hasLost) sums.row(key);
    }
    const nameOf = makeNames(store.read, tenantId);
    const rowOf = async ([key, sum]: [string, Sums]): Promise<CoverageRow> => {
      const { plannedMs, coveredMs, playedMs, ...counts } = sum;
      return {
        key,
        name: await nameOf(groupBy, key),
        plannedSeconds: plannedMs / 1000,
        playedSeconds: playedMs / 1000,
        coveredSeconds: coveredMs / 1000,
        coverage: plannedMs === 0 ? null : Math.round((coveredMs / plannedMs) * 1e4) / 1e4,
        ...counts,
        ...(hasLost && { lost: sumOrNull(lostBy.get(key) ?? []) }),
        incomplete: sums.isIncomplete(key),
      };
    };
    const items = await makeRows(sums.entries(), rowOf);
    return { items, unattributed: hasLost ? null : sumOrNull([...lost.values()]) };
  };
}
