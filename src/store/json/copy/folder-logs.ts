import type { AuditEntry } from '../../../domain/records.ts';
import type { CopiedBatch } from '../../copy/transfer.ts';
import { damaged } from '../damage.ts';
import { headOf } from '../event-record.ts';
import { readFrames } from '../frame.ts';
import { type JournalMark, SegmentReader } from '../journal-segments.ts';
import type { FolderState } from './folder-state.ts';

interface LogLine {
  path: string;
  offset: number;
  /** Only good until the next one is asked for. */
  line: Buffer;
}

/** All lines of a log's day files, each of them checked. */
async function* linesOf(state: FolderState, log: 'events' | 'audit'): AsyncGenerator<LogLine> {
  const { disk, directory } = state.context;
  const { names, end } = state.extent(log);
  for (const name of names) {
    const path = `${directory}/${log}/${name}`;
    for await (const { line, offset, whole } of readFrames(disk, path)) {
      if (name === end.file && offset >= end.size) break;
      if (!whole) throw damaged(path, 'a record is damaged', offset);
      yield { path, offset, line };
    }
  }
}

const beforeEvents = '"events":';

/** The batches after the first `skip`, in their order. */
export async function* batchesOf(state: FolderState, skip: number): AsyncGenerator<CopiedBatch> {
  let place = 0;
  for await (const { path, offset, line } of linesOf(state, 'events')) {
    if (place++ < skip) continue;
    const head = headOf(line);
    const start = line.indexOf(beforeEvents) + beforeEvents.length;
    if (!head || start < beforeEvents.length) throw damaged(path, 'a record is damaged', offset);
    yield { ...head, body: line.toString('utf8', start, line.length - 1) };
  }
}

/** How many batches there are. They are numbered without a gap: first and last tell. */
export async function countBatches(state: FolderState): Promise<number> {
  for await (const batch of batchesOf(state, 0)) return state.logEnd.seq - batch.seq + 1;
  return 0;
}

/** All audit entries: those of the day files, then those that only the journal has. */
export async function* auditOf(state: FolderState): AsyncGenerator<AuditEntry> {
  for await (const { line } of linesOf(state, 'audit')) yield (JSON.parse(line.toString()) as { entry: AuditEntry }).entry;
  yield* await pendingAudit(state);
}

async function pendingAudit({ context, manifest }: FolderState): Promise<AuditEntry[]> {
  const { journal, audit } = manifest.marks as { journal?: JournalMark; audit?: { seq: number } };
  const reader = new SegmentReader(context.disk, `${context.directory}/journal`, journal ?? { file: null, size: 0, seq: 0, at: 0 });
  const pending: AuditEntry[] = [];
  await reader.read(manifest.clean, ({ seq, ops }) => {
    if (seq <= (audit?.seq ?? 0)) return;
    for (const op of ops) if (op[0] === 'audit') pending.push(op[1]);
  });
  return pending;
}
