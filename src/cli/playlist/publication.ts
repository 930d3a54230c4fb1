import { type FieldError, hasCode, SignageError } from '../../domain/error.ts';
import type { Publication } from '../../domain/records/playlist.ts';
import type { Reader } from '../api/client.ts';
import type { Environment } from '../command/environment.ts';
import { readSource } from '../options/input-file.ts';
import type { Path, SourceDocument } from '../options/source-document.ts';
import { readTime } from '../options/time.ts';

/** Returns the version of a screen's playlist, or `undefined` if it has none. */
export async function versionOn(reader: Reader, id: string): Promise<number | undefined> {
  try {
    return (await reader.read('readPlaylist', { params: { id } })).version;
  } catch (error) {
    if (hasCode(error, 'playlist_not_found')) return undefined;
    throw error;
  }
}

/**
 * Members that the service adds to a playlist. They are removed before the playlist is published
 * again.
 */
const storedMembers = ['id', 'tenantId', 'screenId', 'status', 'version'];

/** Parses the end of a playlist, in epoch seconds. `none` becomes `null`. */
export function readValidUntil(
  { clock }: Pick<Environment, 'clock'>,
  text: string,
  source = '--valid-until',
): number | null {
  if (text === 'none') return null;
  return Math.floor(readTime(text, { source, nowMs: clock.now(), spans: 'ahead' }) / 1000);
}

function contentOf(document: unknown): Record<string, unknown> {
  if (Array.isArray(document)) return { items: document };
  if (typeof document === 'object' && document !== null) {
    return Object.fromEntries(
      Object.entries(document).filter(([name]) => !storedMembers.includes(name)),
    );
  }
  throw new SignageError('invalid_file', 'A playlist is an object with items, or a list of items.');
}

/**
 * Returns the content in the form in which the service stores it. Throws `invalid_file` with all
 * mistakes in the content, each with its line in the source.
 */
async function checkContent(content: unknown, source: SourceDocument): Promise<Publication> {
  const { publication } = await import('../../domain/records/playlist.ts');
  const { checkDocument, invalidFile } = await import('../options/source-document.ts');
  const complaint = (path: Path, message: string) =>
    source.complaint(Array.isArray(source.value) ? path.slice(1) : path, message);
  const fieldErrors: FieldError[] = [];
  const checked = checkDocument(publication, { ...source, value: content, complaint }, fieldErrors);
  if (!checked) throw explained(fieldErrors, invalidFile(fieldErrors));
  return checked;
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
  /** Its end as written in the option or the file, such as `7d`. `null`: none. */
  writtenEnd: string | number | null;
}

/**
 * Reads a playlist to publish from a file (`-` for stdin): a publication, a playlist of the
 * service, or a list of items. In the file, `validUntil` may be ISO 8601. The parameter
 * `validUntil` overrides it. Throws `invalid_file` with file, line and member of each mistake.
 */
export async function readPublication(
  context: Environment,
  file: string,
  validUntil: string | undefined,
): Promise<WrittenPublication> {
  const source = await readSource(context.io, file);
  const content = contentOf(source.value);
  const until =
    validUntil ?? (typeof content.validUntil === 'string' ? content.validUntil : undefined);
  if (until !== undefined)
    content.validUntil = readValidUntil(
      context,
      until,
      validUntil === undefined ? 'validUntil' : undefined,
    );
  const publication = await checkContent(content, source);
  return { publication, writtenEnd: until ?? publication.validUntil ?? null };
}
