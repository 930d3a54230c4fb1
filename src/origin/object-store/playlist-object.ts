import { z } from 'zod';
import { parseJson } from '../../domain/json/parse-json.ts';
import { storedItems } from '../../domain/records/playlist.ts';
import type { Playlist } from '../../domain/records/rows.ts';
import type { PlaylistCopy, ScreenKey } from '../origin.ts';

/** Version of the object format. Increased when older versions of the service could not read it. */
const format = 1;

const timeMs = z.int().min(0);
const common = {
  format: z.literal(format, { error: `is an unknown format (known: ${format})` }),
  tenantId: z.guid(),
  screenId: z.guid(),
  playlistId: z.guid(),
  version: z.int().min(1),
};

const playlistObject = z.discriminatedUnion('state', [
  z.looseObject({
    ...common,
    state: z.literal('active'),
    validUntil: timeMs.nullable(),
    publishedAt: timeMs,
    origin: z.enum(['published', 'on-demand']),
    items: storedItems,
  }),
  z.looseObject({ ...common, state: z.literal('withdrawn') }),
]);

/**
 * Serialises a playlist for the object store: all that is needed to serve it, or a tombstone if it
 * was withdrawn.
 */
export function playlistObjectBytes(row: Playlist): Uint8Array {
  const { tenantId, screenId, playlistId, version, validUntil, publishedAt, origin } = row;
  const head = { format, tenantId, screenId, playlistId, version };
  if (row.state === 'withdrawn')
    return Buffer.from(`${JSON.stringify({ ...head, state: 'withdrawn' })}\n`);
  const text = JSON.stringify({ ...head, state: 'active', validUntil, publishedAt, origin });
  return Buffer.from(`${text.slice(0, -1)},"items":${row.items}}\n`);
}

/** Parses such an object. Throws if it is invalid or belongs to another screen. */
export function readPlaylistObject(bytes: Uint8Array, screen: ScreenKey): PlaylistCopy {
  const { json } = parseJson(bytes);
  const { success, data, error } = playlistObject.safeParse(json);
  if (!success) {
    const [issue] = error.issues;
    throw new Error(`/${issue?.path.join('/')} ${issue?.message}`);
  }
  const { playlistId, version, screenId, tenantId } = data;
  if (screenId !== screen.id || tenantId !== screen.tenantId)
    throw new Error('it belongs to another screen');
  if (data.state === 'withdrawn') return { kind: 'withdrawn', version };
  const { validUntil, publishedAt, origin } = data;
  // The unparsed items: a schema may change details, such as the case of an id.
  const items = JSON.stringify((json as { items: unknown }).items);
  const playlist: Playlist = {
    id: screenId,
    screenId,
    tenantId,
    playlistId,
    version,
    state: 'active',
    items,
    validUntil,
    publishedAt,
    origin,
  };
  return { kind: 'playlist', playlist };
}
