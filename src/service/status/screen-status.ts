import { setImmediate } from 'node:timers/promises';
import { iso, secondMs } from '../../domain/clock.ts';
import { cached } from '../../domain/concurrency.ts';
import { type Condition, conditions } from '../../domain/conditions/condition.ts';
import type { ScreenStatusQuery, ScreenStatusView } from '../../domain/conditions/screen-status.ts';
import type { Page } from '../../domain/paging.ts';
import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { PlaylistSummary } from '../../store/queries.ts';
import { slicesOf } from '../../store/store.ts';
import type { ServiceDependencies, TenantPrincipal } from '../context.ts';
import { whereVenue } from '../lookup.ts';
import { pageFilters } from '../paging.ts';
import { deviceView } from '../pairing/devices.ts';
import { newestCodes, screenView } from '../places/screens.ts';
import { countRestoredWebhooks } from '../webhooks/webhooks.ts';
import { conditionView } from './condition-view.ts';
import { type JudgedScreen, makeJudge } from './judged-screens.ts';

function playlistView(row: PlaylistSummary, nowMs: number): ScreenStatusView['playlist'] {
  return {
    version: row.version,
    status: playlistStatusAt(row, nowMs),
    publishedAt: iso(row.publishedAt),
    validUntil: row.validUntil === null ? null : Math.floor(row.validUntil / 1000),
  };
}

/** Number of pages that a list with `condition` reads at most until it finds a screen. */
const maxPages = 50;

/** Number of screens in memory that are listed together. */
const screensPerList = 50;
/**
 * Number of screens that are judged before TVs get their turn. After a start, each of them may be
 * the first that looks into its document of activity, which indexes the document.
 */
const screensPerTurn = 10;
/** Lifetime of cached counts. */
const countsLifetimeMs = 15 * secondMs;

/** The status of all screens (docs/protocol.md §5.3). */
export function makeScreenStatus({ store, clock }: ServiceDependencies) {
  const judge = makeJudge({ store });

  async function statusOf(
    rows: readonly Screen[],
    darkAfterMs: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ScreenStatusView[]> {
    const ids = rows.map(({ id }) => id);
    const nowMs = clock.now();
    const venueIds = [...new Set(rows.map(({ venueId }) => venueId))];
    const [codes, ...venues] = await Promise.all([
      newestCodes(store.read, ids, nowMs),
      ...venueIds.map((id) => store.read.get('venues', id)),
    ]);
    const names = new Map(venues.map((venue) => [venue?.id, venue?.name]));
    const all: ScreenStatusView[] = [];
    const judging = judge(rows, { nowMs, darkAfterMs, signal });
    for await (const { screen, device, delivered, judged } of judging) {
      const { activity = {}, config } = judged;
      all.push({
        at: iso(nowMs),
        venueName: names.get(screen.venueId) ?? '',
        ...conditionView(judged),
        screen: screenView(screen, codes.get(screen.id), nowMs),
        device: device ? deviceView(device, activity, config, nowMs) : null,
        playlist: delivered ? playlistView(delivered.summary, nowMs) : null,
      });
    }
    return all;
  }

  async function list(
    principal: TenantPrincipal,
    { venueId, screenId, selector, condition, darkAfterSeconds, ...page }: ScreenStatusQuery,
    signal?: AbortSignal,
  ): Promise<Page<ScreenStatusView> & { restoredWebhooks: number }> {
    const darkAfterMs = darkAfterSeconds === undefined ? undefined : darkAfterSeconds * secondMs;
    const filters = pageFilters(page, signal);
    const readPage = (after: string | undefined) =>
      store.list('screens', {
        where: {
          tenantId: principal.tenantId,
          ...whereVenue(principal, venueId),
          ...(screenId !== undefined && { id: screenId }),
        },
        ...(selector ? { selector } : {}),
        ...filters,
        ...(after !== undefined && { after }),
      });
    let after: string | undefined;
    for (let count = 1; ; count++) {
      const slice = await readPage(after);
      const all = await statusOf(slice.items, darkAfterMs, signal);
      const items = condition ? all.filter((one) => one.condition === condition) : all;
      const isEnough = items.length > 0 || slice.next === null || count === maxPages;
      if (isEnough || signal?.aborted)
        return {
          items,
          nextCursor: slice.next,
          restoredWebhooks: await countRestoredWebhooks(store.read, principal),
        };
      after = slice.next ?? undefined;
    }
  }

  /** Judges the screens of all tenants. */
  async function* judgeAll(): AsyncGenerator<JudgedScreen> {
    const query = { limit: Math.max(screensPerList, store.readsAtOnce), isUnsized: true };
    let judged = 0;
    for await (const screens of slicesOf(store, 'screens', query))
      for await (const one of judge(screens, { nowMs: clock.now() })) {
        yield one;
        // Reading rows in memory never leaves the microtask queue.
        if (++judged % screensPerTurn === 0) await setImmediate();
      }
  }

  /** Counts the screens of all tenants by condition. */
  async function counts(): Promise<Record<Condition, number>> {
    const found = Object.fromEntries(conditions.map((condition) => [condition, 0])) as Record<
      Condition,
      number
    >;
    for await (const { judged } of judgeAll()) found[judged.judgement.condition]++;
    return found;
  }

  return { list, judgeAll, counts: cached(clock, countsLifetimeMs, counts) };
}
