import { invalid, SignageError } from '../../domain/error.ts';
import type { Publication } from '../../domain/records/playlist.ts';
import type { Context } from '../command/environment.ts';
import { readDocument } from '../options/input-file.ts';
import { readTime } from '../options/time.ts';

/** What a stored playlist has beside its content: it may be published as it was read. */
const ofStored = ['id', 'tenantId', 'screenId', 'status', 'version'];

/** The end of a playlist as it is typed, in epoch seconds; `null` for `none`. */
export function readValidUntil(
  { clock }: Pick<Context, 'clock'>,
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
      Object.entries(document).filter(([name]) => !ofStored.includes(name)),
    );
  }
  throw new SignageError('invalid_file', 'A playlist is an object with items, or a list of items.');
}

/**
 * What to publish, from a file (`-` for stdin): as the service takes it, a playlist as it was read from the service, or the items alone.
 * `validUntil` may be written as ISO 8601 there, and is overridden by what is given here.
 */
export async function readPublication(
  context: Context,
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
  // The service checks it, and names what is wrong.
  return content as Publication;
}

const escapePointer = (part: PropertyKey) =>
  `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Checks what is about to be sent to many screens, or to none: throws `invalid_request` as the service would. */
export async function checkPublication(content: Publication): Promise<void> {
  const { publication } = await import('../../domain/records/playlist.ts');
  const { error } = publication.safeParse(content);
  if (!error) return;
  const complaints = error.issues.flatMap((issue) => {
    const path = issue.path.map(escapePointer).join('');
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    return issue.keys.map((key) => ({
      path: path + escapePointer(key),
      message: 'is no member that we know: check its spelling',
    }));
  });
  throw invalid(complaints);
}
