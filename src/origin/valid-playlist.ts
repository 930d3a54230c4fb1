import { BoundedMap } from '../domain/bounded-map.ts';
import { SignageError } from '../domain/error.ts';
import type { Playlist } from '../domain/records/rows.ts';

/** Rows that were looked at: the embedded store answers the same one each time, frozen. Those of a database are never the same twice. */
const looked = new BoundedMap<Playlist, true>(10_000);

function isPlaylist({ version, playlistId, items, state }: Playlist): boolean {
  if (
    !Number.isSafeInteger(version) ||
    version < 1 ||
    typeof playlistId !== 'string' ||
    typeof items !== 'string'
  )
    return false;
  if (!['active', 'superseded', 'withdrawn'].includes(state)) return false;
  try {
    return Array.isArray(JSON.parse(items));
  } catch {
    return false;
  }
}

/** A row that can be served, as it came from the store. Throws `origin_bad_answer` for one that cannot: it fails alone, and not the store. */
export function validPlaylist(row: Playlist | undefined): Playlist | undefined {
  if (row === undefined || looked.get(row)) return row;
  if (!isPlaylist(row))
    throw new SignageError(
      'origin_bad_answer',
      'What the store has for this screen is no playlist.',
    );
  if (Object.isFrozen(row)) looked.set(row, true);
  return row;
}
