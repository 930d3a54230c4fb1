import {
  type JournalRecord,
  type LogPosition,
  recordHead,
  segmentName,
  segmentsFrom,
} from '../journal/segments.ts';
import { frame, isValidRecord, readFrames } from '../log/frame.ts';
import { NewFile, type RepairContext } from './repair-context.ts';

/** Result of salvaging a journal. */
export interface SalvagedJournal {
  /** All whole records in order, including those that the documents contain. */
  records: JournalRecord[];
  /** Records in between are lost. */
  hasGap: boolean;
  /** The journal has all changes since the store was created. */
  isComplete: boolean;
  position: LogPosition;
  /** The last record, as the next start will see it. */
  end: { seq: number; at: number };
}

const journalStart: LogPosition = { file: null, size: 0, seq: 0, at: 0 };

/**
 * Reads all whole records of a journal, and writes those that no document contains into a new
 * journal. Each damaged record is replaced by an empty one, since `seq` must have no gaps.
 */
export async function salvageJournal(
  context: RepairContext,
  oldPosition: LogPosition = journalStart,
  epoch: number,
): Promise<SalvagedJournal> {
  const { into, log } = context;
  const position: LogPosition = { ...journalStart, seq: oldPosition.seq, at: oldPosition.at };
  const records = await readRecords(context, oldPosition);
  const hasGap = records.some(
    ({ seq }, index) => index > 0 && seq !== (records[index - 1]?.seq ?? 0) + 1,
  );
  let end = { seq: position.seq, at: position.at };
  const later = records.filter(({ seq }) => seq > position.seq);
  const isComplete = !hasGap && records[0]?.seq === 1 && (records.at(-1)?.seq ?? 0) >= position.seq;
  if (later.length === 0) return { records, hasGap, isComplete, position, end };
  const name = `journal/${segmentName(position.seq + 1, epoch)}`;
  const file = await NewFile.create(into.disk, `${into.directory}/${name}`);
  let lost = 0;
  for (const { seq, at, ops } of later) {
    for (let missing = end.seq + 1; missing < seq; missing++, lost++)
      await file.add(frame(`"seq":${missing},"at":${end.at},"ops":[]}`));
    await file.add(frame(`"seq":${seq},"at":${at},"ops":${JSON.stringify(ops)}}`));
    end = { seq, at };
  }
  await file.close();
  if (lost > 0)
    log.add(name, 'damaged or missing changes are lost; each is replaced by an empty change', {
      lost,
    });
  return { records, hasGap: hasGap || lost > 0, isComplete, position, end };
}

async function readRecords(
  { from, log, dropsLinks }: RepairContext,
  position: LogPosition,
): Promise<JournalRecord[]> {
  const records: JournalRecord[] = [];
  const folder = `${from.directory}/journal`;
  const segments = await segmentsFrom(from.disk, folder, null);
  if (position.file !== null && !segments.includes(position.file)) {
    log.add(
      `journal/${position.file}`,
      `the file is missing; the documents contain its changes up to ${position.seq}`,
    );
  }
  for (const segment of segments) {
    for await (const { line, offset } of readFrames(from.disk, `${folder}/${segment}`)) {
      const head = isValidRecord(line) ? recordHead(line) : undefined;
      if (!head) log.add(`journal/${segment}`, 'a damaged record was left out', { offset });
      else if (head.seq > (records.at(-1)?.seq ?? 0)) records.push(recordOf(line, dropsLinks));
    }
  }
  return records;
}

function recordOf(line: Buffer, dropsLinks = false): JournalRecord {
  const record = JSON.parse(line.toString()) as JournalRecord;
  if (!dropsLinks) return record;
  return { ...record, ops: record.ops.map((op) => (op[0] === 'audit' ? [op[0], op[1]] : op)) };
}
