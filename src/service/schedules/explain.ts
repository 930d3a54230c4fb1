import { iso, isoOrNull } from '../../domain/clock.ts';
import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import type { Layers, StoredSchedule } from '../../domain/schedule/rows.ts';
import type { Explanation } from '../../domain/schedule/schedule.ts';
import type { Reader } from '../../store/store.ts';
import type { Principal, ServiceDependencies } from '../context.ts';
import { lookUp } from '../lookup.ts';
import { mergeConfigs, readConfigLevels } from '../places/configs.ts';
import { recordedVersion } from './delivered.ts';
import { readLayers, type ScheduleLevel, type ScreenLayers } from './layers.ts';
import { type Playable, scheduleOf } from './plan.ts';
import { planOf } from './plan-of-screen.ts';

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
  const none = { contentId: '', mediaIds: [], bytes: 0 };
  return { entries: found.entries.map((entry) => ({ ...entry, ...none })), since: found.since };
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

  async function tvOf({ deviceId }: Screen, version: number | null): Promise<Explanation['tv']> {
    const device = deviceId === null ? undefined : await store.read.get('devices', deviceId);
    if (device?.state !== 'bound') return null;
    const { lastPlaylistVersion = null, lastPlaylistAt } = await store.marks('device', device.id);
    return {
      deviceId: device.id,
      version: lastPlaylistVersion,
      fetchedAt: isoOrNull(lastPlaylistAt),
      isCurrent: lastPlaylistVersion !== null && lastPlaylistVersion === version,
    };
  }

  /** Returns where each member of the config comes from. */
  async function configOf({ tenantId, venueId, id }: Screen): Promise<Explanation['config']> {
    const owner = { tenantId, venueId, screenId: id };
    const levels = await readConfigLevels(owner, (key) => store.read.get('configs', key));
    const { config } = mergeConfigs(levels);
    return Object.fromEntries(
      Object.entries(config).map(([name, value]) => {
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
    const version = isNow ? (recordedVersion(playable, base, layers.own)?.version ?? null) : null;
    return {
      at: iso(atMs),
      layer: layerOf(playable, base),
      entryId: playable?.entryId ?? null,
      since: fromMs <= plan.range.fromMs ? null : iso(fromMs),
      until: untilMs >= plan.range.untilMs ? null : iso(untilMs),
      version,
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
      tv: await tvOf(screen, isNow ? version : null),
      config: await configOf(screen),
    };
  };
}
