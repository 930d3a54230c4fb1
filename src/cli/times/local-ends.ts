import { type FieldError, hasCode } from '../../domain/error.ts';
import type { Path, SourceDocument } from '../input/source-document.ts';
import { isLocalTime, type ReadZone, readTimeIn } from '../input/time.ts';

/** Times in place of those that cannot be read, so that they are no second mistake. */
const placeholders = { earlier: 1_000_000_000, later: 4_000_000_000 };

/**
 * Returns a document in which the local times at some paths, which have no time zone, are Unix
 * epoch seconds. Adds mistakes to `fieldErrors`.
 */
export async function withLocalEnds(
  source: SourceDocument,
  paths: readonly Path[],
  readZone: ReadZone,
  fieldErrors: FieldError[],
): Promise<SourceDocument> {
  const value = structuredClone(source.value);
  for (const path of paths) {
    const member = path.at(-1) as string;
    // biome-ignore lint/suspicious/noExplicitAny: a document may have any shape
    const owner = path.slice(0, -1).reduce<any>((one, name) => one?.[name], value);
    const text = owner?.[member];
    if (!isLocalTime(text)) continue;
    const which = member === 'at' ? 'earlier' : 'later';
    const context = { source: '', nowMs: 0, spans: 'ahead', which } as const;
    try {
      owner[member] = Math.floor((await readTimeIn(readZone, text, context)) / 1000);
    } catch (error) {
      // Other errors, of the selection of screens, are no mistakes of the file.
      if (!hasCode(error, 'usage') || !error.message.startsWith(' has no')) throw error;
      owner[member] = placeholders[which];
      fieldErrors.push(
        source.complaint(path, [error.message.trim(), error.hint].filter(Boolean).join(' ')),
      );
    }
  }
  return { ...source, value };
}
