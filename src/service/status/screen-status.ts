import { setImmediate } from 'node:timers/promises';
import { BoundedMap } from '../../domain/bounded-map.ts';
import { iso, secondMs } from '../../domain/clock.ts';
import { cached } from '../../domain/concurrency.ts';
import {
  asleep,
  badConditions,
  type Condition,
  conditionOf,
  conditions,
  lastVisible,
} from '../../domain/conditions/condition.ts';
import type { ScreenStatusQuery, ScreenStatusView } from '../../domain/conditions/screen-status.ts';
import { largest } from '../../domain/numbers/extremes.ts';
import type { Page } from '../../domain/paging.ts';
import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import type { LastActivity } from '../../domain/records/activity.ts';
import type { DeviceConfig } from '../../domain/records/config.ts';
import type { Device, Screen } from '../../domain/records/rows.ts';
import type { PlaylistSummary } from '../../store/queries.ts';
import { type Reader, readContent, slicesOf } from '../../store/store.ts';
import type { ServiceDependencies, TenantPrincipal } from '../context.ts';
import { whereVenue } from '../lookup.ts';
import { pageFilters } from '../paging.ts';
import { viewDevice } from '../pairing/devices.ts';
import { readEffectiveConfig } from '../places/configs.ts';
import { hasLocalTimes, hoursOf } from '../places/opening-hours.ts';
import { newestCodes, screenView } from '../places/screens.ts';
import { type DeliveredNow, deliveredNow, type GivenLayer } from '../schedules/delivered-now.ts';
import { countRestoredWebhooks } from '../webhooks/webhooks.ts';
import { conditionView, type ItemFacts, itemFacts, type Judged } from './condition-view.ts';

function playlistView(row: PlaylistSummary, nowMs: number): ScreenStatusView['playlist'] {
  return {
    version: row.version,
    status: playlistStatusAt(row, nowMs),
    publishedAt: iso(row.publishedAt),
    validUntil: row.validUntil === null ? null : Math.floor(row.validUntil / 1000),
  };
}

async function boundDevice(reader: Reader, { deviceId }: Screen) {
  const row = deviceId === null ? undefined : await reader.get('devices', deviceId);
  // The device may have been revoked after the screen was read.
  return row?.state === 'bound' ? row : undefined;
}

/** Number of different playlists whose facts are kept. */
const contentsKnown = 1024;
/** Number of pages that a list with `condition` reads at most until it finds a screen. */
const maxPages = 50;

/**
 * Number of screens that are judged before TVs get their turn. A database reads them with few
 * statements.
 */
const screensPerSlice = 200;
/** Lifetime of cached counts. */
const countsLifetimeMs = 15 * secondMs;

/** What is known of the items that a TV was given. */
interface GivenFacts {
  /** Of the layer that is due. */
  due: ItemFacts;
  /** Of all layers that were read. */
  facts: ItemFacts;
  /** `undefined`: nothing is beneath. */
  longestBeneathMs?: number;
}

/** A screen of any tenant, with its condition. */
export interface JudgedScreen {
  screen: Screen;
  device: Device | undefined;
  /** The playlist below all layers. */
  playlist: PlaylistSummary | undefined;
  judged: Judged & { config: DeviceConfig };
}

/** The status of all screens (docs/protocol.md §5.3). */
export function makeScreenStatus({ store, clock }: ServiceDependencies) {
  const facts = new BoundedMap<string, ItemFacts>(contentsKnown);

  /** Returns the facts about the items of a layer, which versions and screens share. */
  async function factsOf({
    contentId,
    layer,
    entryId,
  }: GivenLayer): Promise<ItemFacts | undefined> {
    const key = `${contentId} ${layer} ${entryId}`;
    const known = facts.get(key);
    if (known) return known;
    const content = await readContent(store.read, contentId);
    const found = content && itemFacts(content.items, { layer, entryId });
    if (found) facts.set(key, found);
    return found;
  }

  /**
   * Returns the facts about the items that a TV was given: of the layer that is due, those beneath,
   * and as many of the others as name all items that the TV has reported.
   */
  async function givenFacts(
    { summary, layer, entryId, beneath, others }: DeliveredNow,
    activity: LastActivity,
  ): Promise<GivenFacts | undefined> {
    const due = await factsOf({ contentId: summary.contentId, layer, entryId });
    if (!due) return undefined;
    // Few screens have layers.
    if (beneath.length === 0 && others.length === 0) return { due, facts: due };
    const byCreative = new Map(due.byCreative);
    const add = (more: ItemFacts | undefined) => {
      for (const [id, fact] of more?.byCreative ?? [])
        if (!byCreative.has(id)) byCreative.set(id, fact);
    };
    const lower = await Promise.all(beneath.map(factsOf));
    for (const more of lower) add(more);
    const { playErrors = [] } = activity;
    const reported = [lastVisible(activity), ...playErrors].map((one) => one?.creativeId);
    const isNamed = () => reported.every((id) => id == null || byCreative.has(id));
    for (const other of others) {
      if (isNamed()) break;
      add(await factsOf(other));
    }
    return {
      due,
      facts: { longestItemMs: due.longestItemMs, byCreative },
      ...(lower.length > 0 && {
        longestBeneathMs: largest(lower.map((one) => one?.longestItemMs ?? 0)),
      }),
    };
  }

  /** Whether the screen is within its hours, or else those of its venue. */
  async function isOpen(screen: Screen, nowMs: number): Promise<boolean> {
    const venue = await store.read.get('venues', screen.venueId);
    const hours = hoursOf(screen, venue);
    if (!hasLocalTimes(hours) || venue?.timezone == null) return true;
    // Few services have hours, and a calendar takes 5 MB.
    const { isOpenNow } = await import('../../calendar/opening-hours.ts');
    return isOpenNow(hours, venue.timezone, nowMs);
  }

  async function judge(
    row: Screen,
    device: Device | undefined,
    now: DeliveredNow | undefined,
    { nowMs, darkAfterMs }: { nowMs: number; darkAfterMs?: number | undefined },
  ): Promise<JudgedScreen['judged']> {
    const summary = now?.summary;
    const status = summary && playlistStatusAt(summary, nowMs);
    const activity = device && (await store.marks('device', device.id));
    const hasReported =
      activity !== undefined &&
      (lastVisible(activity) !== undefined || (activity.playErrors ?? []).length > 0);
    const isShown = now !== undefined && status === 'active';
    const given = isShown && hasReported ? await givenFacts(now, activity) : undefined;
    const owner = { tenantId: row.tenantId, venueId: row.venueId, screenId: row.id };
    const { config } = await readEffectiveConfig(store.read, owner);
    const playlist = summary &&
      status && {
        version: summary.version,
        publishedAt: summary.publishedAt,
        status,
        longestItemMs: given?.due.longestItemMs ?? 0,
        creativeIds: given?.due.byCreative,
        longestBeneathMs: given?.longestBeneathMs,
      };
    const judgement = conditionOf({
      screenSince: row.updatedAt,
      device: activity && device && { createdAt: device.createdAt, activity },
      config,
      playlist,
      darkAfterMs,
      nowMs,
    });
    const isAsleep = badConditions.includes(judgement.condition) && !(await isOpen(row, nowMs));
    const shown = isAsleep ? asleep(judgement) : judgement;
    const due = isShown ? now : undefined;
    return { judgement: shown, activity, playlist, due, facts: given?.facts, config };
  }

  async function statusOf(
    rows: readonly Screen[],
    darkAfterMs: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ScreenStatusView[]> {
    const ids = rows.map(({ id }) => id);
    const nowMs = clock.now();
    const [codes, playlists] = await Promise.all([
      newestCodes(store.read, ids, nowMs),
      store.playlistSummaries(ids, signal),
    ]);
    return Promise.all(
      rows.map(async (row): Promise<ScreenStatusView> => {
        const [venue, device] = await Promise.all([
          store.read.get('venues', row.venueId),
          boundDevice(store.read, row),
        ]);
        const now = await deliveredNow(store.read, row, playlists.get(row.id), nowMs);
        const playlist = now?.summary;
        return {
          at: iso(nowMs),
          venueName: venue?.name ?? '',
          ...conditionView(await judge(row, device, now, { nowMs, darkAfterMs })),
          screen: screenView(row, codes.get(row.id), nowMs),
          device: device ? await viewDevice(store, device, nowMs) : null,
          playlist: playlist ? playlistView(playlist, nowMs) : null,
        };
      }),
    );
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

  /** Judges the screens of all tenants. Yields slices, between which TVs get their turn. */
  async function* judgeAll(): AsyncGenerator<JudgedScreen[]> {
    const query = { limit: screensPerSlice, isUnsized: true };
    for await (const items of slicesOf(store, 'screens', query)) {
      const playlists = await store.playlistSummaries(items.map(({ id }) => id));
      const nowMs = clock.now();
      yield await Promise.all(
        items.map(async (screen) => {
          const device = await boundDevice(store.read, screen);
          const playlist = playlists.get(screen.id);
          return {
            screen,
            device,
            playlist,
            judged: await judge(
              screen,
              device,
              await deliveredNow(store.read, screen, playlist, nowMs),
              { nowMs },
            ),
          };
        }),
      );
      // Reading rows in memory never leaves the microtask queue.
      await setImmediate();
    }
  }

  /** Counts the screens of all tenants by condition. */
  async function counts(): Promise<Record<Condition, number>> {
    const found = Object.fromEntries(conditions.map((condition) => [condition, 0])) as Record<
      Condition,
      number
    >;
    for await (const slice of judgeAll())
      for (const { judged } of slice) found[judged.judgement.condition]++;
    return found;
  }

  return { list, judgeAll, counts: cached(clock, countsLifetimeMs, counts) };
}
