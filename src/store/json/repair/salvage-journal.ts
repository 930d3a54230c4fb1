import {
  frameChange,
  type JournalRecord,
  journalFormat,
  type LogPosition,
  recordHead,
  segmentName,
} from '../journal/segments.ts';
import { BulkLog } from '../log/bulk-log.ts';
import { listLog, readLog } from '../log/log-records.ts';
import type { RepairContext } from './repair-context.ts';

/** Result of salvaging a journal. */
export interface SalvagedJournal {
  /** All undamaged records in order, including those that the documents contain. */
  records: JournalRecord[];
  /** Whether records are lost between two remaining records, or right after the old position. */
  hasGap: boolean;
  /** Whether the journal has all changes since the store was created. */
  isComplete: boolean;
  position: LogPosition;
  /** The last record, as the next start will see it. */
  end: { seq: number; at: number };
}

/**
 * Reads all undamaged records of a journal, and writes those after the old position into a new
 * journal. An empty record replaces each lost one, since `seq` must have no gaps.
 */
export async function salvageJournal(
  context: RepairContext,
  oldPosition: LogPosition = journalFormat.start,
  epoch: number,
): Promise<SalvagedJournal> {
  const { into, log } = context;
  const position: LogPosition = {
    ...journalFormat.start,
    seq: oldPosition.seq,
    at: oldPosition.at,
  };
  const records = await readRecords(context, oldPosition);
  const hasGap = records.some(
    ({ seq }, index) => index > 0 && seq !== (records[index - 1]?.seq ?? 0) + 1,
  );
  let end = { seq: position.seq, at: position.at };
  const later = records.filter(({ seq }) => seq > position.seq);
  const isComplete = !hasGap && records[0]?.seq === 1 && (records.at(-1)?.seq ?? 0) >= position.seq;
  if (later.length === 0) return { records, hasGap, isComplete, position, end };
  const name = segmentName(position.seq + 1, epoch);
  const newLog = await BulkLog.open(into, journalFormat);
  let lost = 0;
  for (const { seq, at, ops } of later) {
    for (let missing = end.seq + 1; missing < seq; missing++, lost++)
      await newLog.add(name, frameChange({ seq: missing, at: end.at }, '[]'));
    await newLog.add(name, frameChange({ seq, at }, JSON.stringify(ops)));
    end = { seq, at };
  }
  await newLog.close();
  if (lost > 0)
    log.add(
      `journal/${name}`,
      'damaged or missing changes are lost; each is replaced by an empty change',
      { lost },
    );
  return { records, hasGap: hasGap || lost > 0, isComplete, position, end };
}

async function readRecords(
  { from, log, dropsLinks }: RepairContext,
  position: LogPosition,
): Promise<JournalRecord[]> {
  const records: JournalRecord[] = [];
  const segments = await listLog(from, journalFormat);
  if (position.file !== null && !segments.names.includes(position.file)) {
    log.add(
      `journal/${position.file}`,
      `the file is missing; the documents contain its changes up to ${position.seq}`,
    );
  }
  for await (const { file, line, offset, head } of readLog(segments, recordHead)) {
    if (!head) log.add(`journal/${file}`, 'a damaged record was left out', { offset });
    else if (head.seq > (records.at(-1)?.seq ?? 0)) records.push(recordOf(line, dropsLinks));
  }
  return records;
}

function recordOf(line: Buffer, dropsLinks = false): JournalRecord {
  const record = JSON.parse(line.toString()) as JournalRecord;
  if (!dropsLinks) return record;
  return { ...record, ops: record.ops.map((op) => (op[0] === 'audit' ? [op[0], op[1]] : op)) };
}
