import type { CallAnswer, CallInput } from '../../client/call.ts';
import { hasCode } from '../../domain/error.ts';
import { canonicalMediaUrl } from '../../domain/records/media-url.ts';
import type { Reader } from '../api/client.ts';
import type { CommandContext } from '../command/context.ts';
import { createOrFind } from '../records/find.ts';
import { deleteConfig, getConfig, type Level, putConfig } from '../tenant-config/level.ts';
import type { AttributeName, Attributes, SitePlaylist } from './site-schema.ts';

export type RecordKind = Level;

/** Maximum concurrent requests of one command. */
export const requestsAtOnce = 16;

/** A record as it exists on the service. */
export interface CurrentRecord {
  id: string;
  attributes: Attributes;
  /** Whether it is a screen with a TV. */
  isActive: boolean;
}

/**
 * Error codes that mean "absent". A record that was deleted meanwhile makes applying the plan fail
 * later.
 */
const noneCodes = ['config_not_found', 'playlist_not_found', 'screen_not_found', 'venue_not_found'];

async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (noneCodes.some((code) => hasCode(error, code))) return null;
    throw error;
  }
}

const configOwner = (level: Level, id: string) => ({ level, id, what: level });

export function readConfig(
  reader: Reader,
  kind: RecordKind,
  id: string,
): Promise<Attributes['config']> {
  return orNull(getConfig(reader, configOwner(kind, id)));
}

/** Reads the playlist of a screen, including an expired one. */
export function readPlaylist(
  reader: Reader,
  id: string,
): Promise<CallAnswer<'readPlaylist'> | null> {
  return orNull(reader.read('readPlaylist', { params: { id } }));
}

/**
 * Normalizes media URLs like site files do, because an earlier version of the service stored URLs
 * unchanged.
 */
function canonicalItems(items: CallAnswer<'readPlaylist'>['items']): SitePlaylist['items'] {
  return items.map((item) => ({ ...item, creativeUrl: canonicalMediaUrl(item.creativeUrl) }));
}

/** Reads the attributes that lists do not contain, if `wanted` sets them. */
export async function readDetails(
  reader: Reader,
  kind: RecordKind,
  current: CurrentRecord,
  wanted: Attributes,
): Promise<CurrentRecord> {
  const attributes = { ...current.attributes };
  if (wanted.config !== undefined) attributes.config = await readConfig(reader, kind, current.id);
  if (wanted.playlist !== undefined) {
    const playlist = await readPlaylist(reader, current.id);
    attributes.playlist = playlist && {
      items: canonicalItems(playlist.items),
      validUntil: playlist.validUntil,
    };
  }
  return { ...current, attributes };
}

export function currentVenue(venue: CallAnswer<'getVenue'>): CurrentRecord {
  const { id, name, address, timezone, labels } = venue;
  return { id, isActive: false, attributes: { name, address, timezone, labels } };
}

export function currentScreen({ id, name, labels, state }: CallAnswer<'getScreen'>): CurrentRecord {
  return { id, isActive: state === 'active', attributes: { name, labels } };
}

/**
 * Creates a venue, or a screen in the venue `venueId`. If the name was taken meanwhile, reads the
 * existing record.
 */
export async function createRecord(
  call: CommandContext,
  kind: RecordKind,
  venueId: string,
  wanted: Attributes,
): Promise<{ current: CurrentRecord | undefined; isNew: boolean }> {
  const { name = '', address, timezone, labels = {} } = wanted;
  const place = { ...(address != null && { address }), ...(timezone != null && { timezone }) };
  const createVenue = async () => {
    const made = await call.change('createVenue', { body: { name, ...place, labels } });
    return made && currentVenue(made.answer);
  };
  const createScreen = async () => {
    const made = await call.change('createScreen', { body: { venueId, name, labels } });
    return made && currentScreen(made.answer);
  };
  return createOrFind(kind === 'venue' ? createVenue : createScreen, async (id) => {
    const params = { id };
    const found =
      kind === 'venue'
        ? currentVenue(await call.read('getVenue', { params }))
        : currentScreen(await call.read('getScreen', { params }));
    return readDetails(call, kind, found, wanted);
  });
}

/** Returns a merge patch that sets the wanted labels and removes all others. */
function labelsPatch(
  current: Attributes['labels'] = {},
  wanted: Attributes['labels'] = {},
): Record<string, string | null> {
  return { ...Object.fromEntries(Object.keys(current).map((key) => [key, null])), ...wanted };
}

export async function writeAttributes(
  call: CommandContext,
  kind: RecordKind,
  { id, attributes }: CurrentRecord,
  wanted: Attributes,
  names: readonly AttributeName[],
): Promise<void> {
  const params = { id };
  const body = {
    ...(names.includes('name') && wanted.name !== undefined && { name: wanted.name }),
    ...(names.includes('labels') && { labels: labelsPatch(attributes.labels, wanted.labels) }),
    ...(names.includes('address') && { address: wanted.address ?? null }),
    ...(names.includes('timezone') && { timezone: wanted.timezone ?? null }),
  };
  if (Object.keys(body).length > 0)
    await call.change(kind === 'venue' ? 'updateVenue' : 'updateScreen', { params, body });
  if (names.includes('config')) {
    const owner = configOwner(kind, id);
    if (wanted.config == null) await deleteConfig(call, owner);
    else await putConfig(call, owner, wanted.config);
  }
  if (names.includes('playlist')) {
    if (wanted.playlist == null) await call.change('withdrawPlaylist', { params });
    else {
      const playlist = wanted.playlist as CallInput<'publishPlaylist'>['body'];
      await call.change('publishPlaylist', { params, body: playlist });
    }
  }
}
