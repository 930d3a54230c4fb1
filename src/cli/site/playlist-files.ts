import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { type FieldError, hasCode } from '../../domain/error.ts';
import { checkDocument } from './check-document.ts';
import type { SitePlaylist } from './site.ts';
import { type PlaylistPlace, playlistBody } from './site-schema.ts';
import { type Path, parseDocuments, type SourceDocument } from './source-document.ts';

type Read = { playlist?: SitePlaylist | undefined; failure?: string };

/** Reads playlists that stand in files of their own, each once however often it is named; what is wrong goes to `complaints`. */
export function makePlaylistFiles(complaints: FieldError[]) {
  const files = new Map<string, Promise<Read>>();

  async function readOne(path: string): Promise<Read> {
    try {
      const [document, ...more] = parseDocuments(await readFile(path, 'utf8'), path);
      if (!document || more.length > 0) return { failure: `${path} must hold one playlist` };
      return { playlist: checkDocument(playlistBody, document, complaints) };
    } catch (error) {
      return { failure: hasCode(error, 'invalid_file') ? error.message : `the file cannot be read: ${(error as Error).message}` };
    }
  }

  /** The playlist that a place says; `at` is where in the document it says so. */
  return async (place: PlaylistPlace, document: SourceDocument, at: Path): Promise<SitePlaylist | undefined> => {
    if ('items' in place) return place;
    const path = isAbsolute(place.file) ? place.file : join(document.folder, place.file);
    const read = files.get(path) ?? readOne(path);
    files.set(path, read);
    const { playlist, failure } = await read;
    if (failure !== undefined) complaints.push(document.complaint([...at, 'file'], failure));
    return playlist;
  };
}
