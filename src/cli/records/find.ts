import type { CallAnswer } from '../../client/call.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { Reader } from '../api/client.ts';
import { shellQuote } from './shell-quote.ts';
import { isUuid } from './uuid.ts';

export type Tenant = CallAnswer<'getTenant'>;
export type Token = CallAnswer<'getToken'>;
export type Venue = CallAnswer<'getVenue'>;
export type Screen = CallAnswer<'getScreen'>;
export type Device = CallAnswer<'getDevice'>;

function missing(code: string, message: string, hint: string): SignageError {
  return new SignageError(code, message, { hint });
}

/** The candidates may be typed as they are listed. */
function ambiguous(what: string, text: string, candidates: readonly string[]): SignageError {
  const shown =
    candidates.slice(0, 10).join(', ') +
    (candidates.length > 10 ? `, and ${candidates.length - 10} more` : '');
  return new SignageError(
    'ambiguous_name',
    `There are ${candidates.length} ${what} called "${text}": ${shown}.`,
    {
      hint: 'Name one of them in full, or by its id.',
    },
  );
}

/** A venue by id or name. */
export async function findVenue(reader: Reader, text: string): Promise<Venue> {
  if (isUuid(text)) return reader.read('getVenue', { params: { id: text } });
  const { items } = await reader.read('listVenues', { query: { name: text } });
  if (items[0]) return items[0];
  throw missing(
    'venue_not_found',
    `There is no venue "${text}".`,
    'signage venue list shows those there are.',
  );
}

/** A tenant by id or name. */
export async function findTenant(reader: Reader, text: string): Promise<Tenant> {
  if (isUuid(text)) return reader.read('getTenant', { params: { id: text } });
  const { items } = await reader.read('listTenants', { query: { name: text } });
  if (items[0]) return items[0];
  throw missing(
    'tenant_not_found',
    `There is no tenant "${text}".`,
    'signage tenant list shows those there are.',
  );
}

/** A management token by id or name; a tenant's and the platform's may have the same name. */
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
    'signage token list shows those there are.',
  );
}

const noScreen = (text: string) =>
  missing(
    'screen_not_found',
    `There is no screen "${text}".`,
    'signage screen list shows those there are.',
  );

/** What the screens are called in full: `Lobby/Main`. */
async function fullNames(reader: Reader, screens: readonly Screen[]): Promise<string[]> {
  const venues = new Map<string, string>();
  for (const { venueId } of screens.slice(0, 10)) {
    if (!venues.has(venueId))
      venues.set(venueId, (await reader.read('getVenue', { params: { id: venueId } })).name);
  }
  return screens.map(({ venueId, name }) => `${venues.get(venueId) ?? venueId}/${name}`);
}

/** A screen by id, as `Venue/Screen`, or by a name that only one screen has. */
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

/** The device that is on a screen now. */
async function deviceOf(reader: Reader, screen: Screen, text: string): Promise<Device> {
  if (screen.deviceId !== null)
    return reader.read('getDevice', { params: { id: screen.deviceId } });
  throw missing(
    'device_not_found',
    `The screen "${text}" has no device.`,
    `Pair one: signage pair ${shellQuote(text)}`,
  );
}

/** A device by id, or the one that is on the screen of that id or name now. */
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
