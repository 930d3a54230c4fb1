import { isDeepStrictEqual } from 'node:util';
import type { Screen, Tenant, Venue } from '../../../client/entities.ts';
import { forEachBounded } from '../../../domain/concurrency.ts';
import { foldName } from '../../../domain/fold-name.ts';
import type { ServiceReader } from '../../connection/client.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { type PlaceMemberName, placeMembers } from '../../records/place-members.ts';
import { withProgress } from '../../terminal/progress.ts';
import { withDerivedIds } from './campaign-ids.ts';
import {
  type CurrentRecord,
  currentScreen,
  currentVenue,
  type RecordKind,
  readDetails,
  requestsAtOnce,
} from './site-records.ts';
import type { AttributeName, Attributes, Site } from './site-schema.ts';

/** One difference between a record and the files. `null` means absent. */
interface Difference {
  /** Path of the member: `address`, `labels.floor`, `playlist.items[2].duration`. */
  member: string;
  from: unknown;
  to: unknown;
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Yields the differences between two values. Compares objects, and arrays of equal length, member
 * by member. Compares all other values as a whole.
 */
function* differencesWithin(member: string, from: unknown, to: unknown): Generator<Difference> {
  if (isDeepStrictEqual(from, to)) return;
  if (isMap(from) && isMap(to)) {
    for (const key of new Set([...Object.keys(from), ...Object.keys(to)]))
      yield* differencesWithin(`${member}.${key}`, from[key], to[key]);
  } else if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
    for (const [at, one] of from.entries())
      yield* differencesWithin(`${member}[${at}]`, one, to[at]);
  } else yield { member, from: from ?? null, to: to ?? null };
}

const attributeNames: readonly AttributeName[] = [
  'name',
  ...(Object.keys(placeMembers) as PlaceMemberName[]),
  'labels',
  'config',
  'playlist',
  'schedule',
];
const isNothing = (value: unknown) =>
  value === null || value === undefined || (isMap(value) && Object.keys(value).length === 0);

/** Returns the attributes that differ. Skips attributes that the files do not set. */
export function differingAttributes(current: Attributes, wanted: Attributes): AttributeName[] {
  return attributeNames.filter((name) => {
    const to = wanted[name];
    return (
      to !== undefined && !isDeepStrictEqual(current[name] ?? (name === 'labels' ? {} : null), to)
    );
  });
}

/** Returns all differences between a record and the files. */
export function differences(current: Attributes, wanted: Attributes): Difference[] {
  return differingAttributes(current, wanted).flatMap((name) => [
    ...differencesWithin(name, current[name] ?? undefined, wanted[name] ?? undefined),
  ]);
}

/** Returns the wanted attributes of a new record as differences. */
function initialDifferences(wanted: Attributes): Difference[] {
  return attributeNames
    .filter((name) => !isNothing(wanted[name]))
    .map((name) => ({ member: name, from: null, to: wanted[name] }));
}

/** The planned change of one record. */
export interface Planned {
  kind: RecordKind;
  /** Full name: `Lobby/Main`. */
  name: string;
  change: 'create' | 'update' | 'delete' | 'unchanged';
  /** The existing record, or `undefined`. */
  current: CurrentRecord | undefined;
  wanted: Attributes;
  /** The plan of the venue that contains the screen. */
  venue: Planned | undefined;
  differences: readonly Difference[];
}

/**
 * Returns the tenant of the token, or of `--tenant`. Throws `usage` if there is none, or if the
 * files name another tenant.
 */
async function findTenant(
  reader: ServiceReader,
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
 * Reads the screens of the wanted venues. If these are more than half of all venues, reads one list
 * of all screens.
 */
async function screensOf(
  reader: ServiceReader,
  wanted: readonly Venue[],
  venueCount: number,
): Promise<Map<string, Screen[]>> {
  const screens = new Map(wanted.map(({ id }): [string, Screen[]] => [id, []]));
  if (wanted.length * 2 > venueCount) {
    for await (const page of reader.pages('listScreens'))
      for (const screen of page) screens.get(screen.venueId)?.push(screen);
  } else {
    await forEachBounded(wanted, requestsAtOnce, async ({ id }) => {
      screens.set(id, await reader.all('listScreens', { query: { venueId: id } }));
    });
  }
  return screens;
}

const byName = <T extends { name: string }>(records: readonly T[]) =>
  new Map(records.map((one) => [foldName(one.name), one]));

/** Makes the plan of a record in the files. `complete` sets its change. */
function newPlan(
  kind: RecordKind,
  name: string,
  wanted: Attributes,
  current: CurrentRecord | undefined,
  venue?: Planned,
): Planned {
  return { kind, name, wanted, current, venue, change: 'unchanged', differences: [] };
}

/** Reads the details of the record, and sets the change. */
async function complete(reader: ServiceReader, plan: Planned): Promise<void> {
  const { kind, current, wanted } = plan;
  if (!current) {
    plan.change = 'create';
    plan.differences = initialDifferences(wanted);
    return;
  }
  plan.current = await readDetails(reader, kind, current, wanted);
  plan.differences = differences(plan.current.attributes, wanted);
  if (plan.differences.length > 0) plan.change = 'update';
}

function planDeletion(
  kind: RecordKind,
  name: string,
  current: CurrentRecord,
  venue: Planned | undefined,
): Planned {
  const removal = { member: 'name', from: current.attributes.name, to: null };
  return { ...newPlan(kind, name, {}, current, venue), change: 'delete', differences: [removal] };
}

/**
 * Plans the deletions of `--prune`: screens that the files omit, in venues that they contain. If
 * the files have a `tenant` entry, also venues that they omit, with their screens.
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

/** Plans the records that the files contain. Each venue precedes its screens. */
function planNamed(
  site: Site,
  tenant: Pick<Tenant, 'id' | 'name'> | undefined,
  venues: ReadonlyMap<string, Venue>,
  screens: ReadonlyMap<string, Screen[]>,
): Planned[] {
  const plans: Planned[] = [];
  if (tenant && site.tenant) {
    const current = { id: tenant.id, isActive: false, attributes: {}, etags: {} };
    plans.push(newPlan('tenant', tenant.name, { config: site.tenant.config }, current));
  }
  for (const { screens: wantedScreens, ...wanted } of site.venues) {
    const venue = venues.get(foldName(wanted.name));
    const venuePlan = newPlan('venue', wanted.name, wanted, venue && currentVenue(venue));
    const current = byName((venue && screens.get(venue.id)) ?? []);
    plans.push(venuePlan);
    for (const screen of wantedScreens) {
      const found = current.get(foldName(screen.name));
      const name = `${wanted.name}/${screen.name}`;
      plans.push(newPlan('screen', name, screen, found && currentScreen(found), venuePlan));
    }
  }
  return plans;
}

/** Reads the current records and plans the changes, in file order. Deletions come last. */
export function planSite(
  call: CommandContext,
  files: Site,
  { prune }: { prune: boolean },
): Promise<Planned[]> {
  return withProgress(call, async (show) => {
    show('Reading current records …');
    const site = await withDerivedIds(call, files);
    const tenant = site.tenant && (await findTenant(call, site.tenant.name));
    const venues = await call.all('listVenues');
    const named = byName(site.venues);
    const includesAllVenues = prune && tenant !== undefined;
    const relevantVenues = includesAllVenues
      ? venues
      : venues.filter(({ name }) => named.has(foldName(name)));
    const screens = await screensOf(call, relevantVenues, venues.length);
    const plans = planNamed(site, tenant, byName(venues), screens);
    let read = 0;
    await forEachBounded(plans, requestsAtOnce, async (plan) => {
      await complete(call, plan);
      show(`Reading current records: ${++read} of ${plans.length}`);
    });
    return [...plans, ...(prune ? planDeletions(site, relevantVenues, screens) : [])];
  });
}
