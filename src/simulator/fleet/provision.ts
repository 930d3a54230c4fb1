import type { ConfigInput, Publication } from '../../client/entities.ts';
import type { ManagementClient } from '../../client/management-client.ts';
import { interrupted } from '../../client/pause.ts';
import { forEachBounded } from '../../domain/concurrency.ts';
import { type ErrorCode, hasCode } from '../../domain/error.ts';

/** The records that a run created for its fleet. Without `keep`, they are deleted at the end. */
export interface FleetSite {
  venueId: string;
  /** Whether the run created the venue. */
  isVenueMade: boolean;
  screens: string[];
}

export interface SiteOptions {
  management: ManagementClient;
  venueName: string;
  count: number;
  /** Playlist of each screen. Default: three short items of one campaign. */
  playlist?: Publication | undefined;
  config?: ConfigInput | undefined;
  signal: AbortSignal;
}

/** Marks the screens of simulated TVs. */
const labels = { simulated: 'true' };

/** Maximum number of concurrent requests to `/v1`. */
const concurrency = 32;

/** The TVs never fetch these URLs. */
const defaultPlaylist: Publication = {
  items: [1, 2, 3].map((number) => ({
    creativeId: `00000000-0000-4000-8000-00000000000${number}`,
    creativeUrl: `https://media.example.com/simulated/${number}.mp4`,
    creativeType: 'video' as const,
    duration: 10 * number,
    campaignId: '00000000-0000-4000-8000-0000000000ca',
  })),
};

/** Returns the venue of this name. Creates it if it does not exist. */
async function ensureVenue({
  management,
  venueName,
  signal,
}: SiteOptions): Promise<Omit<FleetSite, 'screens'>> {
  if (signal.aborted) throw interrupted(signal);
  try {
    // No `signal`: aborting would lose the id of a created venue, which is needed to delete it.
    return {
      venueId: (await management.call('createVenue', { body: { name: venueName } })).id,
      isVenueMade: true,
    };
  } catch (error) {
    if (hasCode(error, 'name_taken') && error.existingId !== undefined)
      return { venueId: error.existingId, isVenueMade: false };
    throw error;
  }
}

/** Yields names that no screen of the venue has. Never ends. */
async function* freeNames(
  { management, signal }: SiteOptions,
  { venueId, isVenueMade }: Omit<FleetSite, 'screens'>,
): AsyncGenerator<string> {
  const taken = new Set<string>();
  if (!isVenueMade) {
    const screens = management.all('listScreens', { query: { venueId, limit: 200 }, signal });
    for await (const { name } of screens) taken.add(name.toLowerCase());
  }
  for (let number = 1; ; number++)
    if (!taken.has(`simulated ${number}`)) yield `Simulated ${number}`;
}

/** Creates a screen. Returns `undefined` if another client took the name meanwhile. */
async function makeScreen(
  { management, signal }: SiteOptions,
  venueId: string,
  name: string,
): Promise<string | undefined> {
  if (signal.aborted) throw interrupted(signal);
  try {
    return (await management.call('createScreen', { body: { venueId, name, labels } })).id;
  } catch (error) {
    if (hasCode(error, 'name_taken')) return undefined;
    throw error;
  }
}

/**
 * Creates the screens of a fleet, each with its playlist, and their venue if it does not exist.
 * Calls `note` with the site before the first screen is created, so that a failed run can delete
 * it. Adds each screen to the site once it exists. Returns the screen ids in order of the TVs.
 */
export async function prepareSite(
  wanted: SiteOptions,
  note: (site: FleetSite) => void,
): Promise<string[]> {
  const { management, count, playlist = defaultPlaylist, config, signal } = wanted;
  const venue = await ensureVenue(wanted);
  const site: FleetSite = { ...venue, screens: [] };
  note(site);
  const names = freeNames(wanted, venue);
  const screenIds = Array.from<string>({ length: count });
  await forEachBounded(screenIds.keys(), concurrency, async (number) => {
    let id: string | undefined;
    while (id === undefined)
      id = await makeScreen(wanted, site.venueId, (await names.next()).value);
    site.screens.push(id);
    screenIds[number] = id;
    await management.call('publishPlaylist', { params: { id }, body: playlist, signal });
    if (config) await management.call('putScreenConfig', { params: { id }, body: config, signal });
  });
  return screenIds;
}

/**
 * Deletes the screens with their devices. Deletes the venue if the run created it and it is empty.
 * Events remain. Removes the deleted screens from `site`.
 */
export async function clearSite(
  management: ManagementClient,
  site: FleetSite,
  signal: AbortSignal,
): Promise<void> {
  const left = new Set(site.screens);
  try {
    await forEachBounded([...left], concurrency, async (id) => {
      await ignoring(
        'screen_not_found',
        management.call('deleteScreen', { params: { id }, query: { force: 'true' }, signal }),
      );
      left.delete(id);
    });
  } finally {
    site.screens = [...left];
  }
  const { venueId: id } = site;
  if (site.isVenueMade)
    await ignoring('venue_not_empty', management.call('deleteVenue', { params: { id }, signal }));
}

/** Awaits a call and ignores failures with this code. */
export async function ignoring(code: ErrorCode, call: Promise<unknown> | undefined): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!hasCode(error, code)) throw error;
  }
}
