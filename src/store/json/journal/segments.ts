import type { AuditEntry } from '../../../domain/records/audit.ts';
import type { AuditLink, SealedEntry } from '../../audit/audit-chain.ts';
import type { TableName } from '../../sections.ts';
import type { LogFilesPosition } from '../log/day-files.ts';
import { frame } from '../log/frame.ts';
import type { LogFormat } from '../log/log-records.ts';
import type { TableRow } from '../rows/table-index.ts';
import type { RowWrite } from '../rows/write-set.ts';

type Op =
  | ['put', TableName, TableRow]
  | ['del', TableName, string]
  | ['audit', AuditEntry, AuditLink];

/** One record of the journal: a change, with its operations in order. */
export interface JournalRecord {
  seq: number;
  /** The store's time in Unix milliseconds. */
  at: number;
  ops: Op[];
}

export function changesIn({ ops }: JournalRecord): RowWrite[] {
  return ops.flatMap((op): RowWrite[] => {
    if (op[0] === 'audit') return [];
    const [, table] = op;
    return op[0] === 'put'
      ? [{ table, id: op[2].id, row: op[2] }]
      : [{ table, id: op[2], row: null }];
  });
}

export function entriesIn({ ops }: JournalRecord): SealedEntry[] {
  return ops.flatMap((op) => (op[0] === 'audit' ? [{ entry: op[1], link: op[2] }] : []));
}

/**
 * Position in the journal. The journal is valid up to this position, and the documents contain all
 * records up to `seq`. `at` is the time of record `seq`.
 */
export interface LogPosition extends LogFilesPosition {
  at: number;
}

const namePattern = /^\d{16}-\d{6}\.log$/;

/** Returns the name of a segment that starts with record `seq` and belongs to this epoch. */
export function segmentName(seq: number, epoch: number): string {
  return `${String(seq).padStart(16, '0')}-${String(epoch).padStart(6, '0')}.log`;
}

/** Sequence number and time of a journal record, parsed without its `ops`. */
export type ChangeHead = Pick<JournalRecord, 'seq' | 'at'>;

/** Frames a record. `ops` are in JSON. */
export function frameChange({ seq, at }: ChangeHead, ops: string): Buffer {
  return frame(`"seq":${seq},"at":${at},"ops":${ops}}`);
}

const headLength = 80;
const headPattern = /^\{"crc":"[0-9a-f]{8}","seq":(\d+),"at":(\d+),"ops":\[/;

/** Parses the head of a record. Returns `undefined` if the line is not a journal record. */
export function recordHead(line: Buffer): ChangeHead | undefined {
  const found = headPattern.exec(line.toString('latin1', 0, headLength));
  return found ? { seq: Number(found[1]), at: Number(found[2]) } : undefined;
}

/** Records are numbered without gaps. A segment's name has the number of its first record. */
export const journalFormat: LogFormat<ChangeHead, LogPosition> = {
  folder: 'journal',
  start: { file: null, size: 0, seq: 0, at: 0 },
  isCheckpointed: true,
  isLogFile: (name) => namePattern.test(name),
  headOf: recordHead,
  startOf(file, before) {
    const first = Number.parseInt(file, 10);
    const next = before.seq + 1;
    return {
      before: { seq: first - 1, at: 0 },
      what:
        first === next
          ? undefined
          : `it begins with record ${first} where record ${next} must follow`,
    };
  },
  problemOf({ head: { seq } }, before) {
    const expected = before.seq + 1;
    return seq === expected ? undefined : `record ${expected} must be here`;
  },
};
