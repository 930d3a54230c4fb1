import type { SealedEntry } from '../../audit/audit-chain.ts';
import type { CopiedBatch } from '../../copy/transfer.ts';
import { readTrail } from '../audit/trail-reader.ts';
import { headOf } from '../events/event-record.ts';
import { damageError } from '../log/damage.ts';
import { readFrames } from '../log/frame.ts';
import type { FolderState } from './folder-state.ts';

interface LogLine {
  path: string;
  offset: number;
  /** Valid only until the next line is read. */
  line: Buffer;
}

/** Yields and checks all lines of a log's day files. */
async function* linesOf(state: FolderState, log: 'events'): AsyncGenerator<LogLine> {
  const { disk, directory } = state.context;
  const { names, end } = state.logRange(log);
  for (const name of names) {
    const path = `${directory}/${log}/${name}`;
    for await (const { line, offset, whole } of readFrames(disk, path)) {
      if (name === end.file && offset >= end.size) break;
      if (!whole) throw damageError(path, 'a record is damaged', offset);
      yield { path, offset, line };
    }
  }
}

const beforeEvents = '"events":';

/** Yields the batches after the first `skip`, in order. */
export async function* batchesOf(state: FolderState, skip: number): AsyncGenerator<CopiedBatch> {
  let place = 0;
  for await (const { path, offset, line } of linesOf(state, 'events')) {
    if (place++ < skip) continue;
    const head = headOf(line);
    const start = line.indexOf(beforeEvents) + beforeEvents.length;
    if (!head || start < beforeEvents.length)
      throw damageError(path, 'a record is damaged', offset);
    yield { ...head, body: line.toString('utf8', start, line.length - 1) };
  }
}

/** Counts the batches from the first and last number. Numbers have no gaps. */
export async function countBatches(state: FolderState): Promise<number> {
  for await (const batch of batchesOf(state, 0)) return state.logEnd.seq - batch.seq + 1;
  return 0;
}

/** Yields all audit entries as stored. */
export async function* auditOf({ context, manifest }: FolderState): AsyncGenerator<SealedEntry> {
  const onDamage = (file: string, offset: number) => {
    throw damageError(`${context.directory}/${file}`, 'a record is damaged', offset);
  };
  for await (const { entry, link } of readTrail(context, manifest, onDamage))
    yield link === undefined ? { entry } : { entry, link };
}
