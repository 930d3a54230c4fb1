import { forEachBounded } from '../../domain/concurrency.ts';
import type { CommandContext } from '../command/context.ts';
import { findVenue, type Screen, type Venue } from '../records/find.ts';
import { withProgress } from '../terminal/progress.ts';
import {
  type RecordKind,
  readConfig,
  readPlaylist,
  readSchedule,
  requestsAtOnce,
  writtenHours,
} from './site-records.ts';
import type { Attributes, SitePlaylist } from './site-schema.ts';

type Read = Pick<Attributes, 'config' | 'schedule'> & { playlist: SitePlaylist | null };

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

const filled = (map: object) => Object.keys(map).length > 0;

/** Returns the members that venues and screens have in common. Leaves out empty members. */
function entry(
  record: Venue | Screen,
  { config, schedule }: Pick<Attributes, 'config' | 'schedule'>,
): object {
  const { name, labels } = record;
  const hours = writtenHours(record);
  return {
    name,
    ...(hours !== null && { hours }),
    ...(filled(labels) && { labels }),
    ...(config && { config }),
    ...(schedule && { schedule }),
  };
}

/** Exports the named venues, or the whole tenant, as one site document. */
export function exportSite(call: CommandContext, names: readonly string[]): Promise<object> {
  const reads = new Map<string, Read>();
  const read = async (kind: RecordKind, id: string) => {
    const config = (await readConfig(call, kind, id))?.answer ?? null;
    const stored = kind === 'screen' ? await readPlaylist(call, id) : undefined;
    // Skips expired playlists: apply would reject them.
    const schedule =
      kind === 'tenant' ? null : ((await readSchedule(call, kind, id))?.answer ?? null);
    reads.set(id, { config, schedule, playlist: stored?.isActive ? stored.playlist : null });
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
    const me = names.length > 0 ? null : await call.read('getMe');
    // A token limited to venues must not export the tenant.
    const tenantId = me === null || me.venueIds !== null ? null : me.tenantId;
    const records: [RecordKind, string][] = [
      ...(tenantId === null ? [] : [['tenant', tenantId] as [RecordKind, string]]),
      ...venues.map(({ id }): [RecordKind, string] => ['venue', id]),
      ...screens.map(({ id }): [RecordKind, string] => ['screen', id]),
    ];
    await forEachBounded(records, requestsAtOnce, async ([kind, id]) => {
      await read(kind, id);
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
  const playlists = makePlaylists(reads.values());
  const byVenue = new Map<string, Screen[]>(venues.map(({ id }) => [id, []]));
  for (const screen of screens) byVenue.get(screen.venueId)?.push(screen);
  const screenEntry = (screen: Screen) => {
    const { playlist, ...read } = reads.get(screen.id) ?? { playlist: null };
    return { ...entry(screen, read), ...(playlist && { playlist: playlists.of(playlist) }) };
  };
  const venueEntry = (venue: Venue) => {
    const { name, ...rest } = entry(venue, reads.get(venue.id) ?? {}) as {
      name: string;
    };
    const { address, timezone } = venue;
    const place = { ...(address !== null && { address }), ...(timezone !== null && { timezone }) };
    return { name, ...place, ...rest, screens: (byVenue.get(venue.id) ?? []).map(screenEntry) };
  };
  const config = tenantId === null ? null : reads.get(tenantId)?.config;
  return {
    version: 1,
    ...(tenantId !== null && { tenant: { ...(config && { config }) } }),
    ...(filled(playlists.named) && { playlists: playlists.named }),
    venues: venues.map(venueEntry),
  };
}
