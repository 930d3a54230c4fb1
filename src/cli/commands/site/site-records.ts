import type { CallAnswer } from '../../../client/call.ts';
import type { ConfigLevel } from '../../../domain/records/rows.ts';
import type { ServiceReader } from '../../connection/client.ts';
import { preconditionOf } from '../../connection/conditional.ts';
import type { CommandContext } from '../../program/context.ts';
import { deleteConfig, getConfigWithEtag, putConfig } from '../../records/config-level.ts';
import { createOrFind, orUndefined } from '../../records/find.ts';
import { membersOf, type PlaceKind, placeBody, placeTexts } from '../../records/place-members.ts';
import type { AttributeName, Attributes, SitePlaylist, SiteSchedule } from './site-schema.ts';

export type RecordKind = ConfigLevel;

/** Maximum concurrent requests of one command. */
export const requestsAtOnce = 16;

/**
 * ETags of a record, its config and its schedule. `null`: nothing is stored. Absent: unknown,
 * because lists send none.
 */
type Etags = Partial<Record<'record' | 'config' | 'schedule', string | null | undefined>>;

/** A record as it exists on the service. */
export interface CurrentRecord {
  id: string;
  attributes: Attributes;
  /** Whether it is a screen with a TV. */
  isActive: boolean;
  etags: Etags;
  /** Version of the playlist. `null`: there is none. Absent: unknown. */
  playlistVersion?: number | null;
}

/**
 * Error codes that mean "absent". If a record was deleted after it was listed, the plan fails when
 * it is applied.
 */
const noneCodes = [
  'config_not_found',
  'playlist_not_found',
  'schedule_not_found',
  'screen_not_found',
  'venue_not_found',
] as const;

export function readConfig(reader: ServiceReader, level: RecordKind, id: string) {
  return orUndefined(getConfigWithEtag(reader, { level, id }), ...noneCodes);
}

/** Reads the own schedule of a venue or screen. */
export function readSchedule(reader: ServiceReader, kind: 'venue' | 'screen', id: string) {
  const params = { id };
  const reading =
    kind === 'venue'
      ? reader.readWithEtag('getVenueSchedule', { params })
      : reader.readWithEtag('getScreenSchedule', { params });
  return orUndefined(reading, ...noneCodes);
}

/** Reads the playlist of a screen, including an expired one, and its version. */
export async function readPlaylist(
  reader: ServiceReader,
  id: string,
): Promise<{ playlist: SitePlaylist | null; version: number | null; isActive: boolean }> {
  const found = await orUndefined(reader.read('readPlaylist', { params: { id } }), ...noneCodes);
  if (!found) return { playlist: null, version: null, isActive: false };
  const { items, validUntil, version, status } = found;
  return { playlist: { items, validUntil }, version, isActive: status === 'active' };
}

/** Reads the attributes that lists do not contain, if `wanted` sets them. */
export async function readDetails(
  reader: ServiceReader,
  kind: RecordKind,
  current: CurrentRecord,
  wanted: Attributes,
): Promise<CurrentRecord> {
  const attributes = { ...current.attributes };
  const etags = { ...current.etags };
  if (wanted.config !== undefined) {
    const config = await readConfig(reader, kind, current.id);
    attributes.config = config ? config.answer : null;
    etags.config = config ? config.etag : null;
  }
  if (wanted.schedule !== undefined && kind !== 'tenant') {
    const schedule = await readSchedule(reader, kind, current.id);
    attributes.schedule = schedule ? schedule.answer : null;
    etags.schedule = schedule ? schedule.etag : null;
  }
  if (wanted.playlist !== undefined) {
    const { playlist, version } = await readPlaylist(reader, current.id);
    attributes.playlist = playlist;
    return { ...current, attributes, etags, playlistVersion: version };
  }
  return { ...current, attributes, etags };
}

export function currentVenue(venue: CallAnswer<'getVenue'>): CurrentRecord {
  const { id, name, labels } = venue;
  const attributes = { name, ...placeTexts('venue', venue), labels };
  return { id, isActive: false, attributes, etags: {} };
}

export function currentScreen(screen: CallAnswer<'getScreen'>): CurrentRecord {
  const { id, name, labels, state } = screen;
  const attributes = { name, ...placeTexts('screen', screen), labels };
  return { id, isActive: state === 'active', attributes, etags: {} };
}

/** Reads a record with its ETag, without config and playlist. */
export async function readRecord(
  reader: ServiceReader,
  kind: RecordKind,
  id: string,
): Promise<CurrentRecord> {
  const params = { id };
  if (kind === 'tenant') return { id, isActive: false, attributes: {}, etags: {} };
  if (kind === 'venue') {
    const { answer, etag } = await reader.readWithEtag('getVenue', { params });
    return { ...currentVenue(answer), etags: { record: etag } };
  }
  const { answer, etag } = await reader.readWithEtag('getScreen', { params });
  return { ...currentScreen(answer), etags: { record: etag } };
}

const nothingStored: Pick<CurrentRecord, 'etags' | 'playlistVersion'> = {
  etags: { config: null, schedule: null },
  playlistVersion: null,
};

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
  const { name = '', labels = {} } = wanted;
  const body = { name, ...placeBody(kind === 'venue' ? 'venue' : 'screen', wanted), labels };
  const createVenue = async () => {
    const made = await call.change('createVenue', { body });
    return made && { ...currentVenue(made.answer), ...nothingStored };
  };
  const createScreen = async () => {
    const made = await call.change('createScreen', { body: { venueId, ...body } });
    return made && { ...currentScreen(made.answer), ...nothingStored };
  };
  return createOrFind(kind === 'venue' ? createVenue : createScreen, async (id) =>
    readDetails(call, kind, await readRecord(call, kind, id), wanted),
  );
}

/** Returns a merge patch that sets the wanted labels and removes all others. */
function labelsPatch(
  current: Attributes['labels'] = {},
  wanted: Attributes['labels'] = {},
): Record<string, string | null> {
  return { ...Object.fromEntries(Object.keys(current).map((key) => [key, null])), ...wanted };
}

/** Returns the members of a request that set the named texts. */
const changedTexts = (
  kind: PlaceKind,
  names: readonly AttributeName[],
  present: Attributes,
  wanted: Attributes,
): object =>
  Object.assign(
    {},
    ...membersOf(kind)
      .filter(([name]) => names.includes(name))
      .map(([name, { bodyOf }]) => bodyOf(wanted[name] ?? null, present[name] ?? null)),
  );

/**
 * Writes the named attributes, all but the playlist. Throws `precondition_failed` if the record has
 * changed since it was read.
 */
export async function writeAttributes(
  call: CommandContext,
  kind: RecordKind,
  { id, attributes, etags }: CurrentRecord,
  wanted: Attributes,
  names: readonly AttributeName[],
): Promise<void> {
  const params = { id };
  const setsSchedule = names.includes('schedule');
  // A schedule needs the time zone of its venue: it is removed before, and set after it.
  if (setsSchedule && wanted.schedule == null) await writeSchedule(call, kind, { id, etags }, null);
  const body = {
    ...(names.includes('name') && wanted.name !== undefined && { name: wanted.name }),
    ...(names.includes('labels') && { labels: labelsPatch(attributes.labels, wanted.labels) }),
    ...(kind !== 'tenant' && changedTexts(kind, names, attributes, wanted)),
  };
  if (Object.keys(body).length > 0) {
    const headers = preconditionOf(etags.record);
    await call.change(kind === 'venue' ? 'updateVenue' : 'updateScreen', { params, body, headers });
  }
  if (names.includes('config')) {
    const owner = { level: kind, id };
    const headers = preconditionOf(etags.config);
    if (wanted.config == null) await deleteConfig(call, owner, headers);
    else await putConfig(call, owner, wanted.config, headers);
  }
  if (setsSchedule && wanted.schedule != null)
    await writeSchedule(call, kind, { id, etags }, wanted.schedule);
}

async function writeSchedule(
  call: CommandContext,
  kind: RecordKind,
  { id, etags }: Pick<CurrentRecord, 'id' | 'etags'>,
  schedule: SiteSchedule | null,
): Promise<void> {
  const input = { params: { id }, headers: preconditionOf(etags.schedule) };
  const isVenue = kind === 'venue';
  if (schedule === null)
    await call.change(isVenue ? 'deleteVenueSchedule' : 'deleteScreenSchedule', input);
  else
    await call.change(isVenue ? 'putVenueSchedule' : 'putScreenSchedule', {
      ...input,
      body: schedule,
    });
}
