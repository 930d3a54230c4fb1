import { foldName } from '../../domain/fields.ts';
import type { Reader } from '../api/client.ts';
import type { CommandContext } from '../command/context.ts';
import { usage } from '../options/settings.ts';
import type { Screen, Tenant, Venue } from '../records/find.ts';
import { makeProgress } from '../terminal/progress.ts';
import { concurrently, requestsAtOnce } from './concurrently.ts';
import {
  type CurrentRecord,
  currentScreen,
  currentVenue,
  type RecordKind,
  readDetails,
} from './current-record.ts';
import { type Difference, differences, initialDifferences } from './differences.ts';
import type { Attributes, Site } from './site.ts';

/** The planned change of one record. */
export interface Planned {
  kind: RecordKind;
  /** Full name: `Lobby/Main`. */
  name: string;
  change: 'create' | 'update' | 'delete' | 'unchanged';
  /** The existing record, or `undefined`. */
  current: CurrentRecord | undefined;
  wanted: Attributes;
  /** The plan of a screen's venue. */
  venue: Planned | undefined;
  differences: readonly Difference[];
}

type Target = Pick<Planned, 'kind' | 'name' | 'wanted' | 'venue' | 'current'>;

/** Returns the tenant of the token. Throws if the files name another one. */
async function findTenant(
  reader: Reader,
  name: string | undefined,
): Promise<Pick<Tenant, 'id' | 'name'>> {
  const { tenantId, tenantName } = await reader.read('getMe');
  if (tenantId === null || tenantName === null)
    throw usage('The files configure the tenant. Name it with --tenant.');
  if (name === undefined || foldName(name) === foldName(tenantName))
    return { id: tenantId, name: tenantName };
  throw usage(
    `The files are for the tenant "${name}", but this is "${tenantName}".`,
    'Name the tenant with --tenant, or use a token of it.',
  );
}

/**
 * Reads the screens of the given venues. Uses one list for all screens if these are most of the
 * venues.
 */
async function screensOf(
  reader: Reader,
  wanted: readonly Venue[],
  venueCount: number,
): Promise<Map<string, Screen[]>> {
  const screens = new Map(wanted.map(({ id }): [string, Screen[]] => [id, []]));
  if (wanted.length * 2 > venueCount) {
    for await (const page of reader.pages('listScreens'))
      for (const screen of page) screens.get(screen.venueId)?.push(screen);
  } else {
    await concurrently(
      wanted,
      requestsAtOnce,
      async ({ id }) =>
        void screens.set(id, await reader.all('listScreens', { query: { venueId: id } })),
    );
  }
  return screens;
}

const byName = <T extends { name: string }>(records: readonly T[]) =>
  new Map(records.map((one) => [foldName(one.name), one]));

function planTarget(target: Target): Planned {
  const { current, wanted } = target;
  if (!current) return { ...target, change: 'create', differences: initialDifferences(wanted) };
  const found = differences(current.attributes, wanted);
  return { ...target, change: found.length > 0 ? 'update' : 'unchanged', differences: found };
}

function planDeletion(
  kind: RecordKind,
  name: string,
  current: CurrentRecord,
  venue: Planned | undefined,
): Planned {
  const removal: Difference = { member: 'name', from: current.attributes.name, to: null };
  return { kind, name, change: 'delete', current, wanted: {}, venue, differences: [removal] };
}

/**
 * Plans the deletions of `--prune`: unnamed screens of named venues. If the files have a `tenant`
 * entry, also unnamed venues with their screens.
 */
function planDeletions(
  site: Site,
  venues: readonly Venue[],
  screens: ReadonlyMap<string, Screen[]>,
): Planned[] {
  const named = byName(site.venues);
  return venues.flatMap((venue) => {
    const kept = named.get(foldName(venue.name));
    if (!kept && !site.tenant) return [];
    const venueDeletion = kept
      ? undefined
      : planDeletion('venue', venue.name, currentVenue(venue), undefined);
    const keptScreens = byName(kept?.screens ?? []);
    const surplus = (screens.get(venue.id) ?? []).filter(
      ({ name }) => !keptScreens.has(foldName(name)),
    );
    const ofScreens = surplus.map((screen) =>
      planDeletion('screen', `${venue.name}/${screen.name}`, currentScreen(screen), venueDeletion),
    );
    return [...ofScreens, ...(venueDeletion ? [venueDeletion] : [])];
  });
}

function targetsOf(
  site: Site,
  tenant: Pick<Tenant, 'id' | 'name'> | undefined,
  venues: ReadonlyMap<string, Venue>,
  screens: ReadonlyMap<string, Screen[]>,
): Target[] {
  const targets: Target[] = [];
  if (tenant && site.tenant) {
    const current = { id: tenant.id, isActive: false, attributes: {} };
    targets.push({
      kind: 'tenant',
      name: tenant.name,
      wanted: { config: site.tenant.config },
      venue: undefined,
      current,
    });
  }
  for (const { screens: wantedScreens, ...wanted } of site.venues) {
    const venue = venues.get(foldName(wanted.name));
    const target: Target = {
      kind: 'venue',
      name: wanted.name,
      wanted,
      venue: undefined,
      current: venue && currentVenue(venue),
    };
    const current = byName((venue && screens.get(venue.id)) ?? []);
    targets.push(target);
    for (const screen of wantedScreens) {
      const found = current.get(foldName(screen.name));
      targets.push({
        kind: 'screen',
        name: `${wanted.name}/${screen.name}`,
        wanted: screen,
        venue: target as Planned,
        current: found && currentScreen(found),
      });
    }
  }
  return targets;
}

/** Reads the current records and plans the changes, in file order. Deletions come last. */
export async function planSite(
  call: CommandContext,
  site: Site,
  { prune }: { prune: boolean },
): Promise<Planned[]> {
  const progress = makeProgress(call);
  try {
    progress.show('Reading current records …');
    const tenant = site.tenant && (await findTenant(call, site.tenant.name));
    const venues = await call.all('listVenues');
    const named = byName(site.venues);
    const includesAllVenues = prune && tenant !== undefined;
    const relevantVenues = includesAllVenues
      ? venues
      : venues.filter(({ name }) => named.has(foldName(name)));
    const screens = await screensOf(call, relevantVenues, venues.length);
    const targets = targetsOf(site, tenant, byName(venues), screens);
    let read = 0;
    await concurrently(targets, requestsAtOnce, async (target) => {
      if (target.current)
        target.current = await readDetails(call, target.kind, target.current, target.wanted);
      progress.show(`Reading current records: ${++read} of ${targets.length}`);
    });
    // Venues precede their screens, so the plan of each venue is already there.
    const plans = new Map<Target, Planned>();
    for (const target of targets)
      plans.set(target, planTarget({ ...target, venue: target.venue && plans.get(target.venue) }));
    return [...plans.values(), ...(prune ? planDeletions(site, relevantVenues, screens) : [])];
  } finally {
    progress.end();
  }
}
