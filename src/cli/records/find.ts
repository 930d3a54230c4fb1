import type { CallAnswer } from '../../client/call.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { Reader } from '../api/client.ts';
import { isUuid } from './names.ts';
import { shellQuote } from './text.ts';

export type Tenant = CallAnswer<'getTenant'>;
export type Token = CallAnswer<'getToken'>;
export type Venue = CallAnswer<'getVenue'>;
export type Screen = CallAnswer<'getScreen'>;
export type Device = CallAnswer<'getDevice'>;

function missing(code: string, message: string, hint: string): SignageError {
  return new SignageError(code, message, { hint });
}

/** Makes the error for a name that several records have. Commands accept the listed candidates. */
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

/** Finds a venue by id or name. */
export async function findVenue(reader: Reader, text: string): Promise<Venue> {
  if (isUuid(text)) return reader.read('getVenue', { params: { id: text } });
  const { items } = await reader.read('listVenues', { query: { name: text } });
  if (items[0]) return items[0];
  throw missing(
    'venue_not_found',
    `There is no venue "${text}".`,
    'signage venue list shows all venues.',
  );
}

/** Finds a tenant by id or name. */
export async function findTenant(reader: Reader, text: string): Promise<Tenant> {
  if (isUuid(text)) return reader.read('getTenant', { params: { id: text } });
  const { items } = await reader.read('listTenants', { query: { name: text } });
  if (items[0]) return items[0];
  throw missing(
    'tenant_not_found',
    `There is no tenant "${text}".`,
    'signage tenant list shows all tenants.',
  );
}

/**
 * Finds a management token by id or name. A tenant and the platform may each have one of the name.
 */
export async function findToken(reader: Reader, text: string): Promise<Token> {
  if (isUuid(text)) return reader.read('getToken', { params: { id: text } });
  const items = await reader.all('listTokens', { query: { name: text } });
  const [only, second] = items;
  if (second)
    throw ambiguous(
      'tokens',
      text,
      items.map(({ id, role }) => `${id} (${role})`),
    );
  if (only) return only;
  throw missing(
    'token_not_found',
    `There is no token "${text}".`,
    'signage token list shows all tokens.',
  );
}

const noScreen = (text: string) =>
  missing(
    'screen_not_found',
    `There is no screen "${text}".`,
    'signage screen list shows all screens.',
  );

/** Returns the full names of screens, such as `Lobby/Main`. Reads the venues of the first ten. */
async function fullNames(reader: Reader, screens: readonly Screen[]): Promise<string[]> {
  const venues = new Map<string, string>();
  for (const { venueId } of screens.slice(0, 10)) {
    if (!venues.has(venueId))
      venues.set(venueId, (await reader.read('getVenue', { params: { id: venueId } })).name);
  }
  return screens.map(({ venueId, name }) => `${venues.get(venueId) ?? venueId}/${name}`);
}

/** Finds a screen by id, as `Venue/Screen`, or by a unique name. */
export async function findScreen(reader: Reader, text: string): Promise<Screen> {
  if (isUuid(text)) return reader.read('getScreen', { params: { id: text } });
  const slash = text.indexOf('/');
  const venueId = slash < 0 ? undefined : (await findVenue(reader, text.slice(0, slash))).id;
  const query = { name: text.slice(slash + 1), ...(venueId !== undefined && { venueId }) };
  const items = await reader.all('listScreens', { query });
  const [only, second] = items;
  if (second) throw ambiguous('screens', text, await fullNames(reader, items));
  if (only) return only;
  throw noScreen(text);
}

/** Returns the current device of a screen. */
async function deviceOf(reader: Reader, screen: Screen, text: string): Promise<Device> {
  if (screen.deviceId !== null)
    return reader.read('getDevice', { params: { id: screen.deviceId } });
  throw missing(
    'device_not_found',
    `The screen "${text}" has no device.`,
    `Pair one: signage pair ${shellQuote(text)}`,
  );
}

/** Finds a device by id, or the current device of a screen by the screen's id or name. */
export async function findDevice(reader: Reader, text: string): Promise<Device> {
  if (!isUuid(text)) return deviceOf(reader, await findScreen(reader, text), text);
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

/**
 * Creates a record. If somebody else has just created the same name, returns that record. Under
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
