import type { SealedEntry } from '../../audit/audit-chain.ts';
import type { CopiedBatch } from '../../copy/transfer.ts';
import { readTrail } from '../audit/trail-reader.ts';
import { headOf } from '../events/event-record.ts';
import { damageError } from '../log/damage.ts';
import type { LogFilesPosition } from '../log/day-files.ts';
import { readLog } from '../log/log-records.ts';
import type { FolderState } from './folder-state.ts';

const beforeEvents = '"events":';

/** Yields the batches after the first `skip`, in order. */
export async function* batchesOf(state: FolderState, skip: number): AsyncGenerator<CopiedBatch> {
  const { log } = state.parts.events;
  const { disk, directory } = log;
  const { names, end } = log.range(state.manifest.marks.events as LogFilesPosition | undefined);
  let place = 0;
  for await (const { file, offset, line, head } of readLog(
    { disk, directory, names },
    headOf,
    end,
  )) {
    const start = line.indexOf(beforeEvents) + beforeEvents.length;
    if (!head || start < beforeEvents.length)
      throw damageError(log.path(file), 'a record is damaged', offset);
    if (place++ < skip) continue;
    yield { ...head, body: line.toString('utf8', start, line.length - 1) };
  }
}

/**
 * Computes the number of batches from the first and last batch number, since numbers have no gaps.
 */
export async function countBatches(state: FolderState): Promise<number> {
  for await (const batch of batchesOf(state, 0))
    return state.parts.events.log.end.seq - batch.seq + 1;
  return 0;
}

/** Yields all audit entries as stored. */
export async function* auditOf({ context, manifest }: FolderState): AsyncGenerator<SealedEntry> {
  const onDamage = (file: string, offset: number) => {
    throw damageError(`${context.directory}/${file}`, 'a record is damaged', offset);
  };
  for await (const { sealed } of readTrail(context, manifest, onDamage)) yield sealed;
}
