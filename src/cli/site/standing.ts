import type { CallAnswer } from '../../client/call.ts';
import { hasCode } from '../../domain/error.ts';
import { canonicalMediaUrl } from '../../domain/records/media-url.ts';
import type { Reader } from '../api/client.ts';
import type { Facts, SitePlaylist } from './site.ts';

export type RecordKind = 'tenant' | 'venue' | 'screen';

/** A record as it is on the service. */
export interface Standing {
  id: string;
  facts: Facts;
  /** Whether it is a screen with a TV. */
  isActive: boolean;
}

/** What stands for "there is none". A record that went away meanwhile has nothing either: what is wanted of it then fails by itself. */
const noneCodes = ['config_not_found', 'playlist_not_found', 'screen_not_found', 'venue_not_found'];

async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (noneCodes.some((code) => hasCode(error, code))) return null;
    throw error;
  }
}

export function readConfig(reader: Reader, kind: RecordKind, id: string): Promise<Facts['config']> {
  const params = { id };
  if (kind === 'tenant') return orNull(reader.read('getTenantConfig', { params }));
  return orNull(
    kind === 'venue'
      ? reader.read('getVenueConfig', { params })
      : reader.read('getScreenConfig', { params }),
  );
}

/** The playlist of a screen, also one that is past its end. */
export function readPlaylist(
  reader: Reader,
  id: string,
): Promise<CallAnswer<'readPlaylist'> | null> {
  return orNull(reader.read('readPlaylist', { params: { id } }));
}

/** The items in the form in which site files are read: a service may still have URLs that an earlier version stored as they were sent. */
function canonicalItems(items: CallAnswer<'readPlaylist'>['items']): SitePlaylist['items'] {
  return items.map((item) => ({ ...item, creativeUrl: canonicalMediaUrl(item.creativeUrl) }));
}

/** Reads what the list of records does not tell, as far as `wanted` speaks of it. */
export async function readFurther(
  reader: Reader,
  kind: RecordKind,
  standing: Standing,
  wanted: Facts,
): Promise<Standing> {
  const facts = { ...standing.facts };
  if (wanted.config !== undefined) facts.config = await readConfig(reader, kind, standing.id);
  if (wanted.playlist !== undefined) {
    const playlist = await readPlaylist(reader, standing.id);
    facts.playlist = playlist && {
      items: canonicalItems(playlist.items),
      validUntil: playlist.validUntil,
    };
  }
  return { ...standing, facts };
}

export function standingVenue({
  id,
  name,
  address,
  timezone,
  labels,
}: CallAnswer<'getVenue'>): Standing {
  return { id, isActive: false, facts: { name, address, timezone, labels } };
}

export function standingScreen({ id, name, labels, state }: CallAnswer<'getScreen'>): Standing {
  return { id, isActive: state === 'active', facts: { name, labels } };
}
