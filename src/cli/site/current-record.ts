import type { CallAnswer } from '../../client/call.ts';
import { hasCode } from '../../domain/error.ts';
import { canonicalMediaUrl } from '../../domain/records/media-url.ts';
import type { Reader } from '../api/client.ts';
import type { Attributes, SitePlaylist } from './site.ts';

export type RecordKind = 'tenant' | 'venue' | 'screen';

/** A record as it exists on the service. */
export interface CurrentRecord {
  id: string;
  attributes: Attributes;
  /** Whether it is a screen with a TV. */
  isActive: boolean;
}

/**
 * Error codes that mean "absent". If the record itself was deleted meanwhile, applying the plan
 * fails later.
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

export function readConfig(
  reader: Reader,
  kind: RecordKind,
  id: string,
): Promise<Attributes['config']> {
  const params = { id };
  if (kind === 'tenant') return orNull(reader.read('getTenantConfig', { params }));
  return orNull(
    kind === 'venue'
      ? reader.read('getVenueConfig', { params })
      : reader.read('getScreenConfig', { params }),
  );
}

/** Reads the playlist of a screen, including an expired one. */
export function readPlaylist(
  reader: Reader,
  id: string,
): Promise<CallAnswer<'readPlaylist'> | null> {
  return orNull(reader.read('readPlaylist', { params: { id } }));
}

/**
 * Normalizes media URLs like site files do. An earlier version of the service stored URLs
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

export function currentVenue({
  id,
  name,
  address,
  timezone,
  labels,
}: CallAnswer<'getVenue'>): CurrentRecord {
  return { id, isActive: false, attributes: { name, address, timezone, labels } };
}

export function currentScreen({ id, name, labels, state }: CallAnswer<'getScreen'>): CurrentRecord {
  return { id, isActive: state === 'active', attributes: { name, labels } };
}
