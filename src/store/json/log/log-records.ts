import type { FileSystem } from '../disk/file-system.ts';
import type { LogFilesPosition } from './day-files.ts';
import { readFrames } from './frame.ts';
import type { TornTail } from './torn-tail.ts';

/** A log's files, oldest first. */
export interface LogFiles {
  disk: FileSystem;
  directory: string;
  names: readonly string[];
}

export interface LogLine<Head> {
  file: string;
  /** In bytes. */
  offset: number;
  /** Without its line feed. Valid until the next line is read. */
  line: Buffer;
  /** Whether the line has no line feed, because its file ends in it. */
  isTorn: boolean;
  /** `undefined`: the line is damaged, or not a record of this log. */
  head: Head | undefined;
}

/**
 * Yields all lines of a log up to `end`, damaged ones included. No file may come after that of
 * `end`.
 */
export async function* readLog<Head>(
  { disk, directory, names }: LogFiles,
  headOf: (line: Buffer) => Head | undefined,
  end?: { file: string | null; size: number },
): AsyncGenerator<LogLine<Head>> {
  for (const file of names) {
    for await (const { line, offset, length, isValid } of readFrames(
      disk,
      `${directory}/${file}`,
    )) {
      if (file === end?.file && offset >= end.size) break;
      const isTorn = length === line.length;
      yield { file, offset, line, isTorn, head: isValid ? headOf(line) : undefined };
    }
  }
}

/**
 * A problem in a file of a log. `offset` is in bytes. `null`: the problem concerns the whole file.
 */
export interface LogProblem {
  file: string;
  offset: number | null;
  what: string;
}

/** A record with a valid checksum. It extends from `offset` to `end` in its file. */
export interface LogRecord<Head> {
  file: string;
  offset: number;
  end: number;
  head: Head;
  /** The line without its line feed. Valid until the next record is read. */
  line: Buffer;
}

export interface LogFormat<Head, Position extends LogFilesPosition> {
  /** Name of the log's folder in the data folder, and of its position in the manifest. */
  readonly folder: string;
  /** Position in a new store. */
  readonly start: Position;
  /** Whether files before the position are deleted, because the documents contain their records. */
  readonly isCheckpointed: boolean;
  isLogFile(name: string): boolean;
  /** Parses the beginning of a line. Returns `undefined` if it is not a record of this log. */
  headOf(line: Buffer): Head | undefined;
  /**
   * Defined if the name of a file contains the number of its first record. Returns the record that
   * must precede the file. `what` is the problem if `before` is not that record.
   */
  startOf?(file: string, before: Head): { before: Head; what: string | undefined };
  /** Returns the problem of a record that follows `before`, if any. */
  problemOf?(record: LogRecord<Head>, before: Head): string | undefined;
}

/** Whether a start from a position needs no file of this name. */
export function isUnneeded({ file, gone }: LogFilesPosition, name: string): boolean {
  return file !== null && (name < file || (gone === true && name === file));
}

/** Lists the files of a log, and the obsolete files that still exist. */
export async function listLog<Position extends LogFilesPosition>(
  { disk, directory }: Pick<LogFiles, 'disk' | 'directory'>,
  format: LogFormat<unknown, Position>,
  position: Position = format.start,
): Promise<LogFiles & { obsolete: string[] }> {
  const path = `${directory}/${format.folder}`;
  const all = (await disk.list(path)).filter(format.isLogFile).sort();
  const isObsolete = (name: string) =>
    (format.isCheckpointed || position.gone === true) && isUnneeded(position, name);
  const names = all.filter((name) => !isObsolete(name));
  return { disk, directory: path, names, obsolete: all.filter(isObsolete) };
}

/**
 * Returns the missing files, and the files with an unexpected size. `state` determines the
 * expectations. `stopped`: nothing was written after the position. `crashed`: the last file may
 * have grown, later files may exist, and retention may have deleted the oldest ones.
 */
export async function fileProblems(
  { disk, directory, names }: LogFiles,
  { file, size, gone, files = {} }: LogFilesPosition,
  state: 'stopped' | 'crashed',
): Promise<LogProblem[]> {
  const problems: LogProblem[] = [];
  const report = (name: string, what: string, offset: number | null = null) =>
    problems.push({ file: name, offset, what });
  const sizes = { ...files, ...(file !== null && !gone && { [file]: size }) };
  const oldest = names.find((name) => name in sizes) ?? '~';
  for (const [name, wanted] of Object.entries(sizes).sort()) {
    const isLast = name === file;
    const found = (await disk.sizeOf(`${directory}/${name}`)) ?? 0;
    const mayBeDeleted = state === 'crashed' && !isLast && name < oldest;
    const isFinal = state === 'stopped' || !isLast;
    if (!names.includes(name)) {
      if (!mayBeDeleted) report(name, 'the file is missing');
    } else if (found < wanted) report(name, `it had ${wanted} bytes, the rest is missing`, found);
    else if (found > wanted && isFinal)
      report(name, 'more was written after the store was stopped', wanted);
  }
  if (state === 'stopped')
    for (const name of names)
      if (file === null || name > file) report(name, 'it was written after the store was stopped');
  return problems;
}

/** Expectations against which the records of a log are checked. */
export interface LogExpectation<Head> {
  position: LogFilesPosition;
  /** The last record up to the position. */
  before: Head;
}

/**
 * Reads a log after the position at start. Yields the records with a valid checksum, the problems,
 * and a torn write at the end, in order. After a problem, the rest means nothing.
 */
export async function* checkedRecords<Head, Position extends LogFilesPosition>(
  { disk, directory, names }: LogFiles,
  format: LogFormat<Head, Position>,
  expected: LogExpectation<Head>,
): AsyncGenerator<LogRecord<Head> | LogProblem | TornTail> {
  const { position } = expected;
  let { before } = expected;
  for (const file of names) {
    const start = file === position.file ? position.size : 0;
    const named = start === 0 ? format.startOf?.(file, before) : undefined;
    if (named) {
      if (named.what !== undefined) yield { file, offset: 0, what: named.what };
      before = named.before;
    }
    let torn: LogProblem | undefined;
    for await (const found of readFrames(disk, `${directory}/${file}`, start)) {
      const { line, offset } = found;
      if (!found.whole) {
        torn ??= { file, offset, what: 'a record is damaged' };
        continue;
      }
      if (torn) yield torn;
      const head = format.headOf(line);
      if (head === undefined) {
        yield { file, offset, what: 'this is not a record of this log' };
        continue;
      }
      const record = { file, offset, end: offset + found.length, head, line };
      const what = format.problemOf?.(record, before);
      if (what !== undefined) yield { file, offset, what };
      yield record;
      before = head;
    }
    if (!torn) continue;
    const checkpointed = file === position.file ? position.size : (position.files?.[file] ?? 0);
    const tornAt = torn.offset ?? 0;
    if (file === names.at(-1) && tornAt >= checkpointed) yield { file, size: tornAt };
    else yield torn;
  }
}
