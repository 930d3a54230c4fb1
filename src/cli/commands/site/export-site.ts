import type { Screen, Venue } from '../../../client/entities.ts';
import { forEachBounded } from '../../../domain/concurrency.ts';
import type { ConfigBody } from '../../../domain/records/config.ts';
import type { CommandContext } from '../../program/context.ts';
import { findVenue } from '../../records/find.ts';
import { type PlaceKind, placeTexts } from '../../records/place-members.ts';
import { withProgress } from '../../terminal/progress.ts';
import { withoutIds } from './campaign-ids.ts';
import {
  type RecordKind,
  readConfig,
  readPlaylist,
  readSchedule,
  requestsAtOnce,
} from './site-records.ts';
import type { Attributes, SitePlaylist, SiteSchedule } from './site-schema.ts';

interface Read {
  config: ConfigBody | null;
  schedule: SiteSchedule | null;
  playlist: SitePlaylist | null;
}

/** Collects the playlists. A playlist of several screens is written once, under `playlists`. */
function makePlaylists(reads: Iterable<Read>) {
  const key = (playlist: SitePlaylist) => JSON.stringify(playlist);
  const uses = new Map<string, number>();
  for (const { playlist } of reads)
    if (playlist) uses.set(key(playlist), (uses.get(key(playlist)) ?? 0) + 1);
  const shared = [...uses].filter(([, count]) => count > 1).map(([text]) => text);
  const names = new Map(shared.map((text, at) => [text, `playlist-${at + 1}`]));
  const body = ({ items, validUntil }: SitePlaylist) => ({
    items,
    ...(validUntil !== null && { validUntil }),
  });
  return {
    named: Object.fromEntries([...names].map(([text, name]) => [name, body(JSON.parse(text))])),
    of: (playlist: SitePlaylist) => names.get(key(playlist)) ?? body(playlist),
  };
}

/** Code units, so that two exports of the same records are equal on all machines. */
const byName = (one: { name: string }, other: { name: string }) =>
  one.name < other.name ? -1 : one.name > other.name ? 1 : 0;

const filled = (map: object) => Object.keys(map).length > 0;

/** Returns the members that venues and screens have in common. Leaves out empty members. */
function entry(
  kind: PlaceKind,
  record: Venue | Screen,
  { config, schedule }: Pick<Attributes, 'config' | 'schedule'>,
): object {
  const { name, labels } = record;
  const texts = Object.entries(placeTexts(kind, record)).filter(([, text]) => text !== null);
  return {
    name,
    ...Object.fromEntries(texts),
    ...(filled(labels) && { labels }),
    ...(config && { config }),
    ...(schedule && { schedule }),
  };
}

/** Exports the named venues, or the whole tenant, as one site document. */
export function exportSite(call: CommandContext, names: readonly string[]): Promise<object> {
  const reads = new Map<string, Read>();
  const read = async (kind: RecordKind, id: string, ofTenant: string) => {
    const config = (await readConfig(call, kind, id))?.answer ?? null;
    const stored = kind === 'screen' ? await readPlaylist(call, id) : undefined;
    // Skips expired playlists: apply would reject them.
    const schedule =
      kind === 'tenant' ? null : ((await readSchedule(call, kind, id))?.answer ?? null);
    const playlist = stored?.isActive ? stored.playlist : null;
    reads.set(id, withoutIds(ofTenant, { config, schedule, playlist }));
  };
  return withProgress(call, async (show) => {
    show('Reading current records …');
    const found = await Promise.all(names.map((name) => findVenue(call, name)));
    const venues =
      names.length > 0
        ? [...new Map(found.map((venue) => [venue.id, venue])).values()]
        : await call.all('listVenues');
    const screens: Screen[] = [];
    if (names.length === 0) for (const one of await call.all('listScreens')) screens.push(one);
    else
      for (const { id } of venues)
        for (const one of await call.all('listScreens', { query: { venueId: id } }))
          screens.push(one);
    venues.sort(byName);
    screens.sort(byName);
    const me = names.length > 0 ? null : await call.read('getMe');
    // A token limited to venues must not export the tenant.
    const tenantId = me === null || me.venueIds !== null ? null : me.tenantId;
    type Record = [kind: RecordKind, id: string, tenantId: string];
    const records: Record[] = [
      ...(tenantId === null ? [] : [['tenant', tenantId, tenantId] as Record]),
      ...venues.map((venue): Record => ['venue', venue.id, venue.tenantId]),
      ...screens.map((screen): Record => ['screen', screen.id, screen.tenantId]),
    ];
    await forEachBounded(records, requestsAtOnce, async ([kind, id, ofTenant]) => {
      await read(kind, id, ofTenant);
      show(`Reading current records: ${reads.size} of ${records.length}`);
    });
    return document(tenantId, venues, screens, reads);
  });
}

function document(
  tenantId: string | null,
  venues: readonly Venue[],
  screens: readonly Screen[],
  reads: ReadonlyMap<string, Read>,
): object {
  // In the order of the document, and not of the answers.
  const inOrder = [...venues, ...screens].flatMap(({ id }) => reads.get(id) ?? []);
  const playlists = makePlaylists(inOrder);
  const byVenue = new Map<string, Screen[]>(venues.map(({ id }) => [id, []]));
  for (const screen of screens) byVenue.get(screen.venueId)?.push(screen);
  const screenEntry = (screen: Screen) => {
    const { playlist, ...read } = reads.get(screen.id) ?? { playlist: null };
    return {
      ...entry('screen', screen, read),
      ...(playlist && { playlist: playlists.of(playlist) }),
    };
  };
  const venueEntry = (venue: Venue) => ({
    ...entry('venue', venue, reads.get(venue.id) ?? {}),
    screens: (byVenue.get(venue.id) ?? []).map(screenEntry),
  });
  const config = tenantId === null ? null : reads.get(tenantId)?.config;
  return {
    version: 1,
    ...(tenantId !== null && { tenant: { ...(config && { config }) } }),
    ...(filled(playlists.named) && { playlists: playlists.named }),
    venues: venues.map(venueEntry),
  };
}
