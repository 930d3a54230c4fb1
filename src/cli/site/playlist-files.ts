import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { type FieldError, hasCode } from '../../domain/error.ts';
import { checkDocument } from './check-document.ts';
import type { SitePlaylist } from './site.ts';
import { type PlaylistPlace, playlistBody } from './site-schema.ts';
import { type Path, parseDocuments, type SourceDocument } from './source-document.ts';

type Read = { playlist?: SitePlaylist | undefined; failure?: string };

/** Whether a file is inside a folder. Both paths must be free of symbolic links. */
function isBelow(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Returns a function that reads playlist files, each only once. Errors go to `fieldErrors`. A site
 * file may come from an untrusted source. So only files inside its folder are read, after resolving
 * symbolic links, unless `allowOutside` is set.
 */
export function makePlaylistFiles(
  fieldErrors: FieldError[],
  { allowOutside }: { allowOutside: boolean },
) {
  const files = new Map<string, Promise<Read>>();

  async function readOne(file: string, path: string): Promise<Read> {
    try {
      const [document, ...more] = parseDocuments(await readFile(file, 'utf8'), path);
      if (!document || more.length > 0) return { failure: `${path} must hold one playlist` };
      return { playlist: checkDocument(playlistBody, document, fieldErrors) };
    } catch (error) {
      return { failure: hasCode(error, 'invalid_file') ? error.message : unreadable(error) };
    }
  }

  const unreadable = (error: unknown) => `the file cannot be read: ${(error as Error).message}`;

  async function readBelow(folder: string, path: string): Promise<Read> {
    let file: string;
    try {
      file = await realpath(path);
      if (!allowOutside && !isBelow(await realpath(folder), file)) {
        return {
          failure: `${path} is outside the folder of the site file. To read it, give --allow-outside`,
        };
      }
    } catch (error) {
      return { failure: unreadable(error) };
    }
    const read = files.get(file) ?? readOne(file, path);
    files.set(file, read);
    return read;
  }

  /** Returns the playlist given in place or by file; `at` is its path in the document. */
  return async (
    place: PlaylistPlace,
    document: SourceDocument,
    at: Path,
  ): Promise<SitePlaylist | undefined> => {
    if ('items' in place) return place;
    const path = isAbsolute(place.file) ? place.file : join(document.folder, place.file);
    const { playlist, failure } = await readBelow(document.folder, path);
    if (failure !== undefined) fieldErrors.push(document.complaint([...at, 'file'], failure));
    return playlist;
  };
}
