import type { CallInput } from '../../client/call.ts';
import type { ApiClient } from '../api/client.ts';
import type { CurrentRecord, RecordKind } from './current-record.ts';
import type { AttributeName, Attributes } from './site.ts';

/** Returns a merge patch that sets the wanted labels and removes all others. */
function labelsPatch(
  current: Attributes['labels'] = {},
  wanted: Attributes['labels'] = {},
): Record<string, string | null> {
  return { ...Object.fromEntries(Object.keys(current).map((key) => [key, null])), ...wanted };
}

async function patchRecord(
  service: ApiClient,
  kind: RecordKind,
  { id, attributes }: CurrentRecord,
  wanted: Attributes,
  names: readonly AttributeName[],
): Promise<void> {
  const patch = {
    ...(names.includes('name') && wanted.name !== undefined && { name: wanted.name }),
    ...(names.includes('labels') && { labels: labelsPatch(attributes.labels, wanted.labels) }),
  };
  const ofVenue = {
    ...(names.includes('address') && { address: wanted.address ?? null }),
    ...(names.includes('timezone') && { timezone: wanted.timezone ?? null }),
  };
  if (Object.keys(patch).length + Object.keys(ofVenue).length === 0) return;
  if (kind === 'venue')
    await service.change('updateVenue', { params: { id }, body: { ...patch, ...ofVenue } });
  else await service.change('updateScreen', { params: { id }, body: patch });
}

async function writeConfig(
  service: ApiClient,
  kind: RecordKind,
  id: string,
  config: Attributes['config'],
): Promise<void> {
  const params = { id };
  if (config == null) {
    if (kind === 'tenant') await service.change('deleteTenantConfig', { params });
    else if (kind === 'venue') await service.change('deleteVenueConfig', { params });
    else await service.change('deleteScreenConfig', { params });
  } else if (kind === 'tenant') await service.change('putTenantConfig', { params, body: config });
  else if (kind === 'venue') await service.change('putVenueConfig', { params, body: config });
  else await service.change('putScreenConfig', { params, body: config });
}

async function writePlaylist(
  service: ApiClient,
  id: string,
  playlist: Attributes['playlist'],
): Promise<void> {
  if (playlist == null) await service.change('withdrawPlaylist', { params: { id } });
  else
    await service.change('publishPlaylist', {
      params: { id },
      body: playlist as CallInput<'publishPlaylist'>['body'],
    });
}

/** Writes the named attributes of a record. */
export async function writeAttributes(
  service: ApiClient,
  kind: RecordKind,
  current: CurrentRecord,
  wanted: Attributes,
  names: readonly AttributeName[],
): Promise<void> {
  await patchRecord(service, kind, current, wanted, names);
  if (names.includes('config')) await writeConfig(service, kind, current.id, wanted.config);
  if (names.includes('playlist')) await writePlaylist(service, current.id, wanted.playlist);
}
