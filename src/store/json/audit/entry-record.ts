import { tryParseJson } from '../../../domain/json/try-parse-json.ts';
import type { AuditEntry } from '../../../domain/records/audit.ts';
import { isSealed, type SealedEntry } from '../../audit/audit-chain.ts';
import { isDayFile, type LogFilesPosition } from '../log/day-files.ts';
import { frame } from '../log/frame.ts';
import type { LogFormat } from '../log/log-records.ts';

/** Number of an entry: the journal record, and the index in it. */
export interface EntryNumber {
  seq: number;
  n: number;
}

/** An entry's number and its day file. */
export interface EntryPosition extends EntryNumber {
  file: string;
}

/**
 * An entry, kept as its line to save memory. A busy minute has tens of thousands of entries, and a
 * parsed entry is a dozen objects.
 */
export interface PositionedEntry extends EntryPosition {
  bytes: Buffer;
}

export function frameEntry({ seq, n }: EntryNumber, { entry, link }: SealedEntry): Buffer {
  const linked = `"entry":${JSON.stringify(entry)},"link":${JSON.stringify(link)}`;
  return frame(`"seq":${seq},"n":${n},${linked}}`);
}

export function entryOf(bytes: Buffer): AuditEntry {
  return JSON.parse(bytes.toString()).entry;
}

/** Returns the entry of a line with its link, or `undefined` if the line has no entry. */
export function sealedOf(line: Buffer): SealedEntry | undefined {
  const value = tryParseJson(line.toString());
  return isSealed(value) ? { entry: value.entry, link: value.link } : undefined;
}

const headPattern = /^\{"crc":"[0-9a-f]{8}","seq":(\d+),"n":(\d+),"entry":/;

/**
 * Parses the number at the beginning of a line. Returns `undefined` for a line that begins
 * differently from those of `frameEntry`.
 */
export function positionOf(line: Buffer): EntryNumber | undefined {
  const found = headPattern.exec(line.toString('latin1', 0, Math.min(line.length, 100)));
  return found ? { seq: Number(found[1]), n: Number(found[2]) } : undefined;
}

/** Whether an entry follows another one. */
export function isAfter(entry: EntryNumber, other: EntryNumber): boolean {
  return entry.seq > other.seq || (entry.seq === other.seq && entry.n > other.n);
}

/**
 * Format of the audit log. Numbers of entries increase. `seq` of the position is the number of the
 * last journal record with entries.
 */
export const auditFormat: LogFormat<EntryNumber, LogFilesPosition> = {
  folder: 'audit',
  start: { file: null, size: 0, seq: 0 },
  isCheckpointed: false,
  isLogFile: isDayFile,
  headOf: positionOf,
};
