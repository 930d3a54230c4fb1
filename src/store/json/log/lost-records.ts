import type { DocumentOwner } from '../checkpoint/document-owner.ts';
import type { ManifestData } from '../manifest.ts';
import { damaged } from './damage.ts';

/** The last record of a log, and the file that it ends in; `null` while nothing was ever written. */
interface LogEnd {
  file: string | null;
  seq: number;
}

/**
 * Documents contain only what was durable in their log, and may have more than the log's mark says: what came while a checkpoint was made. A log that ends
 * before that has lost records, though it may look as after an earlier crash. Throws `store_damaged`.
 */
export function refuseLostRecords(
  directory: string,
  { documents }: ManifestData,
  owners: readonly DocumentOwner[],
  ends: Record<'journal' | 'events', LogEnd>,
): void {
  for (const [name, { file, seq }] of Object.entries(documents)) {
    const log = owners.find(({ kind }) => name.startsWith(`${kind}-`))?.log ?? 'none';
    if (log === 'none' || seq <= ends[log].seq) continue;
    const end = ends[log].file;
    throw damaged(
      `${directory}/${log}${end === null ? '' : `/${end}`}`,
      `record ${seq}, which documents/${file} contains, is missing`,
    );
  }
}
