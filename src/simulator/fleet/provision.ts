import type { CallInput } from '../../client/call.ts';
import { interrupted } from '../../client/interrupted.ts';
import type { ManagementClient } from '../../client/management-client.ts';
import { hasCode } from '../../domain/error.ts';
import { forEachBounded } from '../time/bounded.ts';

export type Publication = CallInput<'publishPlaylist'>['body'];
export type SiteConfig = CallInput<'putScreenConfig'>['body'];

/** What was made for a fleet, and is taken away again in the end: this and nothing else. */
export interface FleetSite {
  venueId: string;
  /** Whether the venue was made too. */
  isVenueMade: boolean;
  screens: string[];
}

export interface WantedSite {
  management: ManagementClient;
  venueName: string;
  count: number;
  /** What each screen shows; three short items of one campaign unless given. */
  playlist?: Publication | undefined;
  config?: SiteConfig | undefined;
  signal: AbortSignal;
}

/** By this label people tell the screens of simulated TVs from their own. */
const labels = { simulated: 'true' };

/** So many requests to `/v1` at a time. */
const concurrency = 32;

/** Nothing is fetched from these addresses. */
const usualPlaylist: Publication = {
  items: [1, 2, 3].map((number) => ({
    creativeId: `00000000-0000-4000-8000-00000000000${number}`,
    creativeUrl: `https://media.example.com/simulated/${number}.mp4`,
    creativeType: 'video' as const,
    duration: 10 * number,
    campaignId: '00000000-0000-4000-8000-0000000000ca',
  })),
};

/** The venue of this name: the one that is there, or a new one. */
async function ensureVenue({
  management,
  venueName,
  signal,
}: WantedSite): Promise<Omit<FleetSite, 'screens'>> {
  if (signal.aborted) throw interrupted();
  try {
    // Never broken off: what is made must be known, to be taken away again.
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

/** Names that no screen of the venue has, one after another, without end. */
async function* freeNames(
  { management, signal }: WantedSite,
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

/** A new screen; `undefined` when somebody else took the name in between. */
async function makeScreen(
  { management, signal }: WantedSite,
  venueId: string,
  name: string,
): Promise<string | undefined> {
  if (signal.aborted) throw interrupted();
  try {
    return (await management.call('createScreen', { body: { venueId, name, labels } })).id;
  } catch (error) {
    if (hasCode(error, 'name_taken')) return undefined;
    throw error;
  }
}

/**
 * Makes the venue, if need be, and the screens of a fleet in it, each with its playlist. `note` is told of what is made as it is made, so that
 * it can be taken away again also after a failure half-way. Answers the screens in the order of their names.
 */
export async function prepareSite(
  wanted: WantedSite,
  note: (site: FleetSite) => void,
): Promise<string[]> {
  const { management, count, playlist = usualPlaylist, config, signal } = wanted;
  const venue = await ensureVenue(wanted);
  const site: FleetSite = { ...venue, screens: [] };
  note(site);
  const names = freeNames(wanted, venue);
  const places = Array.from<string>({ length: count });
  await forEachBounded(places.keys(), concurrency, async (place) => {
    let id: string | undefined;
    while (id === undefined)
      id = await makeScreen(wanted, site.venueId, (await names.next()).value);
    site.screens.push(id);
    places[place] = id;
    await management.call('publishPlaylist', { params: { id }, body: playlist, signal });
    if (config) await management.call('putScreenConfig', { params: { id }, body: config, signal });
  });
  return places;
}

/**
 * Takes away what was made: the screens with the devices on them, and the venue unless somebody else has put screens into it. Events stay. What is
 * gone is no longer in `site`.
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

/** Waits for a call that may fail with this code. */
export async function ignoring(code: string, call: Promise<unknown> | undefined): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!hasCode(error, code)) throw error;
  }
}
