import {
  type JournalRecord,
  type LogPosition,
  recordHead,
  segmentName,
  segmentsFrom,
} from '../journal/segments.ts';
import { frame, isWhole, readFrames } from '../log/frame.ts';
import { NewFile, type RepairContext } from './repair-context.ts';

/** What was read of a journal. */
export interface SalvagedJournal {
  /** All that is whole, also what the documents contain; in order. */
  records: JournalRecord[];
  /** Some in between are lost. */
  hasGap: boolean;
  /** All changes that ever were are there. */
  isComplete: boolean;
  mark: LogPosition;
  /** The last record, as a start counts. */
  end: { seq: number; at: number };
}

const nothing: LogPosition = { file: null, size: 0, seq: 0, at: 0 };

/**
 * Reads all whole records of a journal, and writes those that are in no document into a new one. In place of each that is damaged comes one that does
 * nothing, for `seq` must count up without a gap.
 */
export async function salvageJournal(
  context: RepairContext,
  given: LogPosition = nothing,
  epoch: number,
): Promise<SalvagedJournal> {
  const { into, log } = context;
  const mark: LogPosition = { ...nothing, seq: given.seq, at: given.at };
  const records = await readRecords(context, given);
  const hasGap = records.some(
    ({ seq }, index) => index > 0 && seq !== (records[index - 1]?.seq ?? 0) + 1,
  );
  let end = { seq: mark.seq, at: mark.at };
  const later = records.filter(({ seq }) => seq > mark.seq);
  const isComplete = !hasGap && records[0]?.seq === 1 && (records.at(-1)?.seq ?? 0) >= mark.seq;
  if (later.length === 0) return { records, hasGap, isComplete, mark, end };
  const name = `journal/${segmentName(mark.seq + 1, epoch)}`;
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
    log.add(
      name,
      'changes that were damaged or missing are lost; each is replaced by one that does nothing',
      { lost },
    );
  return { records, hasGap: hasGap || lost > 0, isComplete, mark, end };
}

async function readRecords(
  { from, log, dropsLinks }: RepairContext,
  mark: LogPosition,
): Promise<JournalRecord[]> {
  const records: JournalRecord[] = [];
  const folder = `${from.directory}/journal`;
  const segments = await segmentsFrom(from.disk, folder, null);
  if (mark.file !== null && !segments.includes(mark.file)) {
    log.add(
      `journal/${mark.file}`,
      `the file is missing; the documents contain its changes up to ${mark.seq}`,
    );
  }
  for (const segment of segments) {
    for await (const { line, offset } of readFrames(from.disk, `${folder}/${segment}`)) {
      const head = isWhole(line) ? recordHead(line) : undefined;
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
