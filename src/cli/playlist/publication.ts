import { invalid, SignageError } from '../../domain/error.ts';
import { jsonPointer, wrongMembers } from '../../domain/json/schema-issue.ts';
import type { Publication } from '../../domain/records/playlist.ts';
import type { Environment } from '../command/environment.ts';
import { readDocument } from '../options/input-file.ts';
import { readTime } from '../options/time.ts';

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
 * Reads a playlist to publish from a file (`-` for stdin): a publication, a playlist of the
 * service, or a list of items. In the file, `validUntil` may be ISO 8601. The parameter
 * `validUntil` overrides it.
 */
export async function readPublication(
  context: Environment,
  file: string,
  validUntil: string | undefined,
): Promise<Publication> {
  const content = contentOf(await readDocument(context.io, file));
  const until =
    validUntil ?? (typeof content.validUntil === 'string' ? content.validUntil : undefined);
  if (until !== undefined)
    content.validUntil = readValidUntil(
      context,
      until,
      validUntil === undefined ? 'validUntil' : undefined,
    );
  // Not validated here, because the service validates it.
  return content as Publication;
}

/**
 * Validates a playlist before it goes to several screens. Returns it in the form in which the
 * service stores it. Throws `invalid_request`, as the service does.
 */
export async function checkPublication(content: Publication): Promise<Publication> {
  const { publication } = await import('../../domain/records/playlist.ts');
  const { data, error } = publication.safeParse(content);
  if (data) return data;
  const wrong = error.issues.flatMap((issue) =>
    wrongMembers(issue, 'is no member that we know: check its spelling'),
  );
  throw invalid(wrong.map(({ path, message }) => ({ path: jsonPointer(path), message })));
}
