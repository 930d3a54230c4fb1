import { isAbsolute, join } from 'node:path';
import { type FieldError, hasCode, SignageError } from '../../domain/error.ts';
import { checkDocument } from '../input/check-document.ts';
import { decodeText } from '../input/decode-text.ts';
import { fileProblem } from '../input/file-error.ts';
import { realPathInside } from '../input/inside-folder.ts';
import { readRegularBytes } from '../input/read-file.ts';
import { type Path, parseDocuments, type SourceDocument } from '../input/source-document.ts';
import { findWrittenPath } from '../input/written-path.ts';
import type { MediaFiles } from './media-files.ts';
import { type LocalEnd, localPlaylistDocument, type WrittenPlaylist } from './playlist-document.ts';

/**
 * Returns a function that reads the files that documents name, each only once, and checks them
 * against a schema. `at` is the path of the name in the document. Errors go to `fieldErrors`.
 *
 * @param what the content of a file, for errors
 */
export function makeNamedFiles<T>(
  what: string,
  fieldErrors: FieldError[],
  { allowOutside }: { allowOutside: boolean },
  check: (source: SourceDocument) => Promise<T | undefined>,
) {
  const files = new Map<string, Promise<T | undefined>>();

  async function parseFile(file: string, path: string): Promise<T | undefined> {
    const [document, ...more] = parseDocuments(
      decodeText(await readRegularBytes(file), { file: path }),
      path,
    );
    if (!document || more.length > 0)
      throw new SignageError('invalid_file', `${path} must hold one ${what}`);
    return check(document);
  }

  async function readBelow(folder: string, path: string): Promise<T | undefined> {
    const file = await realPathInside(folder, path, { allowOutside });
    const content = files.get(file) ?? parseFile(file, path);
    files.set(file, content);
    return content;
  }

  return async (name: string, document: SourceDocument, at: Path): Promise<T | undefined> => {
    try {
      return await readBelow(document.folder, await findWrittenPath(name, document.folder));
    } catch (error) {
      if (hasCode(error, 'invalid_file') && error.errors) {
        for (const one of error.errors) fieldErrors.push(one);
        return undefined;
      }
      const failure = hasCode(error, 'invalid_file')
        ? error.message
        : fileProblem(error, isAbsolute(name) ? name : join(document.folder, name));
      fieldErrors.push(document.complaint(at, failure));
      return undefined;
    }
  };
}

/** Returns a function that reads the playlist files that documents name. */
export function makePlaylistFiles(
  fieldErrors: FieldError[],
  media: MediaFiles,
  { allowOutside, nowMs }: { allowOutside: boolean; nowMs: number },
): ReturnType<typeof makeNamedFiles<WrittenPlaylist<LocalEnd>>> {
  return makeNamedFiles('playlist', fieldErrors, { allowOutside }, async (source) => {
    const resolved = await media.resolve(source, fieldErrors);
    return checkDocument(localPlaylistDocument(nowMs), resolved, fieldErrors);
  });
}
