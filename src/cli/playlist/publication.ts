import { type FieldError, SignageError } from '../../domain/error.ts';
import type { Publication } from '../../domain/playlists/playlist.ts';
import type { Reader } from '../api/client.ts';
import type { Environment } from '../command/environment.ts';
import type { MediaFiles } from '../media/media-files.ts';
import { readSource } from '../options/input-file.ts';
import type { SourceDocument } from '../options/source-document.ts';
import { readValidUntil } from '../options/time.ts';
import { orUndefined } from '../records/find.ts';

/** Returns the version of a screen's playlist, or `undefined` if it has none. */
export async function versionOn(reader: Reader, id: string): Promise<number | undefined> {
  const reading = reader.read('readPlaylist', { params: { id } });
  return (await orUndefined(reading, 'playlist_not_found'))?.version;
}

/** Returns the errors with a hint if one of them is in a media URL. */
function explained(errors: FieldError[], error: SignageError): SignageError {
  if (!errors.some(({ path }) => path.endsWith('.creativeUrl'))) return error;
  return new SignageError(error.code, error.message, {
    ...error,
    hint: 'creativeUrl is the full URL of a media file. In the files of fixtures/playlists, replace {media} by the URL of your media folder.',
  });
}

/** A playlist to publish. */
export interface WrittenPublication {
  publication: Publication;
  /** The media files that it names. */
  files: MediaFiles;
  /** Its end as written in the option or the file, such as `7d`. `null`: none. */
  writtenEnd: string | number | null;
}

/** Returns the end as the file has it, before it was read as a time. */
function writtenEndOf({ value }: SourceDocument): string | number | null {
  const { validUntil = null } = value as { validUntil?: string | number | null };
  return validUntil;
}

/**
 * Reads a playlist to publish from a file (`-` for stdin). The parameter `validUntil` overrides the
 * end in the file. Items may name media files in place of URLs. Throws `invalid_file` with file,
 * line and member of each mistake.
 */
export async function readPublication(
  { io, clock }: Environment,
  file: string,
  { validUntil, allowOutside }: { validUntil?: string | undefined; allowOutside: boolean },
): Promise<WrittenPublication> {
  const { MediaFiles } = await import('../media/media-files.ts');
  const files = new MediaFiles({ allowOutside });
  const { playlistDocument } = await import('./playlist-document.ts');
  const { checkDocument, invalidFile } = await import('../options/source-document.ts');
  const nowMs = clock.now();
  const fieldErrors: FieldError[] = [];
  const source = await files.resolve(await readSource(io, file), fieldErrors);
  const publication = checkDocument(playlistDocument(nowMs), source, fieldErrors);
  if (!publication || fieldErrors.length > 0)
    throw explained(fieldErrors, invalidFile(fieldErrors));
  if (validUntil === undefined) return { publication, files, writtenEnd: writtenEndOf(source) };
  const end = readValidUntil(validUntil, nowMs, '--valid-until');
  return { publication: { ...publication, validUntil: end }, files, writtenEnd: validUntil };
}
