import { BoundedMap } from '../../domain/bounded-map.ts';
import {
  asleep,
  badConditions,
  conditionOf,
  lastVisible,
} from '../../domain/conditions/condition.ts';
import { largest } from '../../domain/numbers/extremes.ts';
import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import type { DeviceActivity, LastActivity } from '../../domain/records/activity.ts';
import type { DeviceConfig } from '../../domain/records/config.ts';
import type { Device, Screen } from '../../domain/records/rows.ts';
import type { PlaylistSummary } from '../../store/queries.ts';
import { type Reader, readContent } from '../../store/store.ts';
import type { ServiceDependencies } from '../context.ts';
import { readEffectiveConfig } from '../places/configs.ts';
import { hasLocalTimes, hoursOf } from '../places/opening-hours.ts';
import { type DeliveredNow, deliveredNow, type GivenLayer } from '../schedules/delivered-now.ts';
import { readLayers } from '../schedules/layers.ts';
import { type ItemFacts, itemFacts, type Judged } from './condition-view.ts';

/** Number of different playlists whose facts are kept. */
const contentsKnown = 1024;

async function boundDevice(reader: Reader, { deviceId }: Screen) {
  const row = deviceId === null ? undefined : await reader.get('devices', deviceId);
  // The device may have been revoked after the screen was read.
  return row?.state === 'bound' ? row : undefined;
}

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
  delivered: DeliveredNow | undefined;
  judged: Judged & { activity: DeviceActivity | undefined; config: DeviceConfig };
}

interface JudgeOptions {
  nowMs: number;
  darkAfterMs?: number | undefined;
  /** Stops the work, as in `ListQuery`. */
  signal?: AbortSignal | undefined;
}

/**
 * Returns a function that judges screens, in their order, as many at a time as suits the store. In
 * memory, it is one: if hundreds of judgements lived at a time, V8 would move them to where only a
 * collection of the whole heap frees them.
 */
export function makeJudge({ store }: Pick<ServiceDependencies, 'store'>) {
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
    screen: Screen,
    base: PlaylistSummary | undefined,
    { nowMs, darkAfterMs }: JudgeOptions,
  ): Promise<JudgedScreen> {
    const { id, tenantId, venueId } = screen;
    const device = await boundDevice(store.read, screen);
    const layers = await readLayers(store.read, screen);
    const delivered = await deliveredNow(store.read, screen, { layers, base, nowMs });
    const summary = delivered?.summary;
    const status = summary && playlistStatusAt(summary, nowMs);
    const activity = device && (await store.marks('device', device.id));
    const hasReported =
      activity !== undefined &&
      (lastVisible(activity) !== undefined || (activity.playErrors ?? []).length > 0);
    const due = status === 'active' ? delivered : undefined;
    const given = due && hasReported ? await givenFacts(due, activity) : undefined;
    const owner = { tenantId, venueId, screenId: id };
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
    const awake = conditionOf({
      screenSince: screen.updatedAt,
      device: activity && device && { createdAt: device.createdAt, activity },
      config,
      playlist,
      darkAfterMs,
      nowMs,
    });
    const isAsleep = badConditions.includes(awake.condition) && !(await isOpen(screen, nowMs));
    const judgement = isAsleep ? asleep(awake) : awake;
    const judged = { judgement, activity, playlist, due, facts: given?.facts, config };
    return { screen, device, playlist: base, delivered, judged };
  }

  return async function* (
    screens: readonly Screen[],
    options: JudgeOptions,
  ): AsyncGenerator<JudgedScreen> {
    const ids = screens.map(({ id }) => id);
    const playlists = await store.playlistSummaries(ids, options.signal);
    const atOnce = store.readsAtOnce;
    for (let from = 0; from < screens.length; from += atOnce) {
      const group = screens.slice(from, from + atOnce);
      yield* await Promise.all(group.map((one) => judge(one, playlists.get(one.id), options)));
    }
  };
}
