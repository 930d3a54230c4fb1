import { iso, isoOrNull } from '../../domain/clock.ts';
import { layerStateOf } from '../../domain/layers/layer-state.ts';
import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import { mergedConfigs, withoutLevel } from '../../domain/records/config.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import type { Layers, StoredSchedule } from '../../domain/schedule/rows.ts';
import type { Explanation } from '../../domain/schedule/schedule.ts';
import { type Reader, readContent } from '../../store/store.ts';
import type { Principal, ServiceDependencies } from '../context.ts';
import { lookUp } from '../lookup.ts';
import { mergeConfigLevels, readConfigLevels } from '../places/configs.ts';
import { layerName, recordedVersion } from '../schedules/delivered.ts';
import { type DeliveredNow, deliveredNow } from '../schedules/delivered-now.ts';
import {
  readLayers,
  type ScheduleLevel,
  type ScreenLayers,
  scheduleOf,
} from '../schedules/layers.ts';
import { type Playable, planOf } from '../schedules/plan.ts';
import { itemFacts } from './condition-view.ts';

/** Versions that `explain` looks at for a time in the past. */
const maxPast = 20;

/** Returns the schedule that an owner had at a time, without its items. */
async function scheduleAt(
  reader: Reader,
  layers: Layers | undefined,
  ownerId: string,
  atMs: number,
): Promise<StoredSchedule | null> {
  const present = layers?.schedule;
  if (present && present.since <= atMs) return present;
  const past = await reader.select('pastSchedules', 'ownerId', [ownerId]);
  const found = past.find(({ since, until }) => since <= atMs && atMs < until);
  if (!found) return null;
  const entries = found.entries.map(({ base, ...times }) => ({
    ...times,
    contentId: base ? null : '',
    mediaIds: [],
    bytes: 0,
  }));
  return { entries, since: found.since };
}

const withSchedule = (layers: Layers | undefined, id: string, schedule: StoredSchedule | null) =>
  layers || schedule
    ? {
        id,
        tenantId: '',
        ownerId: '',
        takeover: null,
        delivered: null,
        ...layers,
        schedule,
      }
    : undefined;

function layerOf(playable: Playable | undefined, base: Playlist | undefined): Explanation['layer'] {
  if (!playable) return 'none';
  if (playable.entryId === 'takeover') return 'takeover';
  if (playable.entryId !== null) return 'schedule';
  return base?.origin === 'on-demand' ? 'on-demand' : 'base';
}

const shownItems = (itemsJson: string): Explanation['items'] =>
  Array.from(itemFacts(itemsJson).byCreative, ([creativeId, { name, creativeUrl }]) => ({
    creativeId,
    name,
    creativeUrl,
  }));

/** Explains what screens play (docs/protocol.md §5.18). */
export function makeExplain(deps: ServiceDependencies) {
  const { store, clock } = deps;

  /** Returns the version that was the newest at a time. */
  async function baseAt({ id }: Screen, atMs: number): Promise<Playlist | undefined> {
    const newest = await store.read.get('playlists', id);
    if (!newest || newest.publishedAt <= atMs) return newest;
    const query = { screenId: id, below: newest.version, limit: maxPast };
    const { items } = await store.pastPlaylists(query);
    const past = items.find(({ publishedAt }) => publishedAt <= atMs);
    return past && { ...past, state: 'active' };
  }

  async function layersAt(screen: Screen, atMs: number): Promise<ScreenLayers> {
    const { own, venue } = await readLayers(store.read, screen);
    const [ownSchedule, venueSchedule] = await Promise.all([
      scheduleAt(store.read, own, screen.id, atMs),
      scheduleAt(store.read, venue, screen.venueId, atMs),
    ]);
    const ofScreen = withSchedule(own, `screen/${screen.id}`, ownSchedule);
    const began = ofScreen?.takeover && ofScreen.takeover.since <= atMs;
    return {
      own: ofScreen && { ...ofScreen, takeover: began ? ofScreen.takeover : null },
      venue: withSchedule(venue, `venue/${screen.venueId}`, venueSchedule),
    };
  }

  /** `due` is `undefined` at another time than now, and if nothing is due. */
  async function tvOf(
    { deviceId }: Screen,
    version: number | null,
    due: DeliveredNow | undefined,
  ): Promise<Explanation['tv']> {
    const device = deviceId === null ? undefined : await store.read.get('devices', deviceId);
    if (device?.state !== 'bound') return null;
    const marks = await store.marks('device', device.id);
    const { lastPlaylistVersion = null, lastPlaylistAt } = marks;
    const content = due && (await readContent(store.read, due.summary.contentId));
    const ids = itemFacts(content?.items ?? '[]').byCreative;
    const shown =
      due && layerStateOf({ ...due, version: due.summary.version }, marks, (id) => ids.has(id));
    return {
      state: shown?.state ?? null,
      since: isoOrNull(shown?.sinceMs ?? undefined),
      deviceId: device.id,
      version: lastPlaylistVersion,
      fetchedAt: isoOrNull(lastPlaylistAt),
      isCurrent: lastPlaylistVersion !== null && lastPlaylistVersion === version,
    };
  }

  /**
   * Returns where each member of the config comes from. A caller bound to venues may not read the
   * config of the tenant, and so sees none of its members.
   */
  async function configOf(
    { venueIds }: Principal,
    { tenantId, venueId, id }: Screen,
  ): Promise<Explanation['config']> {
    const owner = { tenantId, venueId, screenId: id };
    const levels = await readConfigLevels(owner, (key) => store.read.get('configs', key));
    const { config } = mergeConfigLevels(levels);
    const [ofTenant, ...own] = levels.map((row) => row?.config);
    const visible =
      venueIds && ofTenant ? withoutLevel(config, ofTenant, mergedConfigs(own)) : config;
    return Object.fromEntries(
      Object.entries(visible).map(([name, value]) => {
        const source = levels.findLast((row) => row && Object.hasOwn(row.config, name))?.level;
        return [name, { value, source: source ?? 'default' }];
      }),
    );
  }

  return async (principal: Principal, screenId: string, at?: number): Promise<Explanation> => {
    const screen = await lookUp(store.read, principal, 'screen', screenId);
    const nowMs = clock.now();
    const atMs = at ?? nowMs;
    const [layers, row] = await Promise.all([layersAt(screen, atMs), baseAt(screen, atMs)]);
    const base = row && playlistStatusAt(row, atMs) === 'active' ? row : undefined;
    const plan = await planOf(store.read, screen, { layers, base, nowMs: atMs });
    const [{ fromMs, untilMs, playable }] = plan.spans;
    const schedule = scheduleOf(layers);
    const level: ScheduleLevel = layers.own?.schedule ? 'screen' : 'venue';
    const venue = await store.read.get('venues', screen.venueId);
    const isNow = at === undefined;
    const content = playable && (await readContent(store.read, playable.contentId));
    const version = isNow ? (recordedVersion(playable, base, layers.own)?.version ?? null) : null;
    const now =
      isNow && playable
        ? await deliveredNow(store.read, screen, { layers, base: row, nowMs })
        : undefined;
    const due = now && playlistStatusAt(now.summary, nowMs) === 'active' ? now : undefined;
    return {
      at: iso(atMs),
      layer: layerOf(playable, base),
      entryId: playable?.entryId ?? null,
      since: fromMs <= plan.range.fromMs ? null : iso(fromMs),
      until: untilMs >= plan.range.untilMs ? null : iso(untilMs),
      version,
      items: content ? shownItems(content.items) : null,
      schedule: schedule
        ? { level, since: iso(schedule.since), timezone: venue?.timezone ?? null }
        : null,
      base: row
        ? {
            version: row.version,
            status: playlistStatusAt(row, atMs),
            publishedAt: iso(row.publishedAt),
          }
        : null,
      tv: await tvOf(screen, isNow ? version : null, due),
      beneath: plan.beneath.map((one) => ({
        layer: layerName(one, base),
        entryId: one.entryId,
      })),
      config: await configOf(principal, screen),
    };
  };
}
