import { type FieldError, SignageError } from '../../domain/error.ts';
import type { Publication } from '../../domain/playlists/playlist.ts';
import type { ServiceReader } from '../connection/client.ts';
import type { MediaReading } from '../examination/local-media.ts';
import { readSource } from '../input/input-file.ts';
import type { SourceDocument } from '../input/source-document.ts';
import { type ReadZone, readLocalEnd } from '../input/time.ts';
import { orUndefined } from '../records/find.ts';
import type { Environment } from '../terminal/environment.ts';
import type { MediaFiles } from './media-files.ts';

/** Returns the version of a screen's playlist, or `undefined` if it has none. */
export async function versionOn(reader: ServiceReader, id: string): Promise<number | undefined> {
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
 *
 * @param readZone of an end without a zone; default, where the end does not matter: UTC
 */
export async function readPublication(
  call: Environment & MediaReading,
  file: string,
  {
    validUntil,
    allowOutside,
    force,
  }: { validUntil?: string | undefined; allowOutside: boolean; force?: boolean | undefined },
  readZone: ReadZone = async () => 'UTC',
): Promise<WrittenPublication> {
  const { MediaFiles } = await import('./media-files.ts');
  const files = new MediaFiles(call, { allowOutside, force });
  const { localPlaylistDocument, playlistDocument } = await import('./playlist-document.ts');
  const { withLocalEnds } = await import('../times/local-ends.ts');
  const { invalidFile } = await import('../input/source-document.ts');
  const { checkDocument } = await import('../input/check-document.ts');
  const nowMs = call.clock.now();
  const fieldErrors: FieldError[] = [];
  const written = await readSource(call.io, file);
  const ends = validUntil === undefined ? [['validUntil']] : [];
  const local = await withLocalEnds(written, ends, readZone, fieldErrors);
  const source = await files.resolve(local, fieldErrors);
  // An end that is replaced needs no zone.
  const publication =
    validUntil === undefined
      ? checkDocument(playlistDocument(nowMs), source, fieldErrors)
      : checkDocument(localPlaylistDocument(nowMs), source, fieldErrors);
  if (!publication || fieldErrors.length > 0)
    throw explained(fieldErrors, invalidFile(fieldErrors));
  const { items, validUntil: own } = publication;
  const end =
    validUntil === undefined
      ? (own as number | null)
      : await readLocalEnd(readZone, validUntil, nowMs);
  const writtenEnd = validUntil ?? writtenEndOf(written);
  return { publication: { items, validUntil: end }, files, writtenEnd };
}
