import type { Campaign, Device, Screen, Tenant, Token, Venue } from '../../client/entities.ts';
import { type ErrorCode, hasCode, SignageError } from '../../domain/error.ts';
import { foldName } from '../../domain/fold-name.ts';
import { isGuid } from '../../domain/id.ts';
import { largestPage, type ServiceReader } from '../connection/client.ts';
import { shellQuote } from '../terminal/text.ts';
import { didYouMean } from './near-names.ts';

/** Makes the error for a name that several records have. The message lists up to ten of them. */
function ambiguous(records: string, text: string, candidates: readonly string[]): SignageError {
  const shown =
    candidates.slice(0, 10).join(', ') +
    (candidates.length > 10 ? `, and ${candidates.length - 10} more` : '');
  return new SignageError(
    'ambiguous_name',
    `There are ${candidates.length} ${records} called "${text}": ${shown}.`,
    { hint: 'Use one of the full names, or an id.' },
  );
}

interface Search<T> {
  byId(id: string): Promise<T>;
  byName(name: string): Promise<T[]>;
  /** Returns records, one of which the user may have meant. */
  similar(): Promise<readonly { name: string }[]>;
  /** Returns a hint if the text names another kind of record. */
  otherKind?(): Promise<string | undefined>;
  /** Returns texts that distinguish records of the same name, for the error. Default: none. */
  candidates?(found: readonly T[]): string[] | Promise<string[]>;
}

/** Finds a record by its id, or by a name that no other record has. */
async function find<T>(
  noun: 'venue' | 'tenant' | 'token' | 'screen' | 'campaign',
  text: string,
  { byId, byName, similar, otherKind, candidates = () => [] }: Search<T>,
): Promise<T> {
  if (isGuid(text)) return byId(text);
  const found = await byName(text);
  const [only, second] = found;
  if (second) throw ambiguous(`${noun}s`, text, await candidates(found));
  if (only) return only;
  // Requests for the hint: their failure must not replace the error.
  const other = await otherKind?.().catch(() => undefined);
  if (other !== undefined)
    throw new SignageError(`${noun}_not_found`, `There is no ${noun} "${text}".`, { hint: other });
  const names = (await similar().catch(() => [])).map(({ name }) => name);
  const question = await didYouMean(text, names);
  throw new SignageError(`${noun}_not_found`, `There is no ${noun} "${text}".`, {
    hint: `${question && `${question} `}signage ${noun} list shows all ${noun}s.`,
  });
}

/** Finds a venue by id or name. */
export function findVenue(reader: ServiceReader, text: string): Promise<Venue> {
  return find('venue', text, {
    byId: (id) => reader.read('getVenue', { params: { id } }),
    byName: async (name) => (await reader.read('listVenues', { query: { name } })).items,
    similar: async () => (await reader.read('listVenues', { query: { limit: largestPage } })).items,
  });
}

/** Finds a tenant by id or name. */
export function findTenant(reader: ServiceReader, text: string): Promise<Tenant> {
  return find('tenant', text, {
    byId: (id) => reader.read('getTenant', { params: { id } }),
    byName: async (name) => (await reader.read('listTenants', { query: { name } })).items,
    similar: async () =>
      (await reader.read('listTenants', { query: { limit: largestPage } })).items,
  });
}

/**
 * Finds a management token by id or name. A name may be ambiguous, because a tenant and the
 * platform can each have a token of that name.
 */
export function findToken(reader: ServiceReader, text: string): Promise<Token> {
  return find('token', text, {
    byId: (id) => reader.read('getToken', { params: { id } }),
    byName: (name) => reader.all('listTokens', { query: { name } }),
    similar: async () => (await reader.read('listTokens', { query: { limit: largestPage } })).items,
    candidates: (found) => found.map(({ id, role }) => `${id} (${role})`),
  });
}

/** Finds a campaign by id or name. Items may give several campaigns the same name. */
export function findCampaign(reader: ServiceReader, text: string): Promise<Campaign> {
  return find('campaign', text, {
    byId: (id) => reader.read('getCampaign', { params: { name: id } }),
    byName: (name) => reader.all('listCampaigns', { query: { name } }),
    similar: async () =>
      (await reader.read('listCampaigns', { query: { limit: largestPage } })).items,
    candidates: (found) => found.map(({ id }) => id),
  });
}

/**
 * Returns the full names of screens, such as `Lobby/Main`. Reads only the venues of the first ten
 * screens.
 */
async function fullNames(reader: ServiceReader, screens: readonly Screen[]): Promise<string[]> {
  const venues = new Map<string, string>();
  for (const { venueId } of screens.slice(0, 10)) {
    if (!venues.has(venueId))
      venues.set(venueId, (await reader.read('getVenue', { params: { id: venueId } })).name);
  }
  return screens.map(({ venueId, name }) => `${venues.get(venueId) ?? venueId}/${name}`);
}

/** Finds a screen by id, as `Venue/Screen`, or by a unique name. */
export function findScreen(reader: ServiceReader, text: string): Promise<Screen> {
  const slash = text.indexOf('/');
  const ofVenue = async () =>
    slash < 0 ? {} : { venueId: (await findVenue(reader, text.slice(0, slash))).id };
  return find('screen', text, {
    byId: (id) => reader.read('getScreen', { params: { id } }),
    byName: async (path) =>
      reader.all('listScreens', { query: { name: path.slice(slash + 1), ...(await ofVenue()) } }),
    async similar() {
      const query = { limit: largestPage, ...(await ofVenue()) };
      const { items } = await reader.read('listScreens', { query });
      return items.map(({ name }) => ({ name: text.slice(0, slash + 1) + name }));
    },
    async otherKind() {
      if (slash >= 0) return undefined;
      const { items } = await reader.read('listVenues', { query: { limit: largestPage } });
      const typed = foldName(text);
      const venue = items.find(({ name }) => foldName(name) === typed);
      const begun = items.find(({ name }) => foldName(name).startsWith(`${typed} `));
      if (begun && !venue)
        return `Put a name with spaces in quotes: ${shellQuote(`${begun.name}/SCREEN`)}. signage screen list shows all screens.`;
      if (!venue) return undefined;
      const query = { venueId: venue.id, limit: 1 };
      const [screen] = (await reader.read('listScreens', { query })).items;
      return screen
        ? `It is a venue. Name a screen of it, such as ${shellQuote(`${venue.name}/${screen.name}`)}. signage screen list --venue ${shellQuote(venue.name)} shows all.`
        : `It is a venue without a screen. signage screen create ${shellQuote(`${venue.name}/NAME`)} creates one.`;
    },
    candidates: (found) => fullNames(reader, found),
  });
}

async function deviceOf(reader: ServiceReader, screen: Screen, text: string): Promise<Device> {
  if (screen.deviceId !== null)
    return reader.read('getDevice', { params: { id: screen.deviceId } });
  throw new SignageError('device_not_found', `The screen "${text}" has no device.`, {
    hint: `Pair one: signage pair ${shellQuote(text)}`,
  });
}

/** Finds a device by id, or the current device of a screen by the screen's id or name. */
export async function findDevice(reader: ServiceReader, text: string): Promise<Device> {
  if (!isGuid(text)) return deviceOf(reader, await findScreen(reader, text), text);
  try {
    return await reader.read('getDevice', { params: { id: text } });
  } catch (error) {
    if (!hasCode(error, 'device_not_found')) throw error;
    const screen = await reader
      .read('getScreen', { params: { id: text } })
      .catch(() => Promise.reject(error));
    return deviceOf(reader, screen, text);
  }
}

/** Returns the result of a request, or `undefined` if it fails with one of the codes. */
export async function orUndefined<T>(
  request: Promise<T>,
  ...codes: readonly ErrorCode[]
): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (codes.some((code) => hasCode(error, code))) return undefined;
    throw error;
  }
}

/**
 * Creates a record. If the name is taken, returns the existing record of that name. Under
 * `--dry-run` the record is `undefined`.
 */
export async function createOrFind<T>(
  make: () => Promise<T | undefined>,
  read: (id: string) => Promise<T>,
): Promise<{ current: T | undefined; isNew: boolean }> {
  try {
    return { current: await make(), isNew: true };
  } catch (error) {
    if (!hasCode(error, 'name_taken') || error.existingId === undefined) throw error;
    return { current: await read(error.existingId), isNew: false };
  }
}
