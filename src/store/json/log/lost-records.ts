import type { DocumentOwner } from '../checkpoint/document-owner.ts';
import type { ManifestData } from '../manifest.ts';
import { damageError } from './damage.ts';

/** The last record of a log and its file. `file` is `null` if nothing was ever written. */
interface LogEnd {
  file: string | null;
  seq: number;
}

/**
 * Throws `store_damaged` if a log ends before the last record that a document contains. Documents
 * contain only durable records, so the log has lost some. The log's position does not reveal this:
 * records arrive while a checkpoint is written.
 */
export function refuseLostRecords(
  directory: string,
  { documents }: ManifestData,
  owners: readonly DocumentOwner[],
  logEnds: Record<'journal' | 'events', LogEnd>,
): void {
  for (const [name, { file, seq }] of Object.entries(documents)) {
    const log = owners.find(({ kind }) => name.startsWith(`${kind}-`))?.log ?? 'none';
    if (log === 'none' || seq <= logEnds[log].seq) continue;
    const end = logEnds[log].file;
    throw damageError(
      `${directory}/${log}${end === null ? '' : `/${end}`}`,
      `record ${seq}, which documents/${file} contains, is missing`,
    );
  }
}
