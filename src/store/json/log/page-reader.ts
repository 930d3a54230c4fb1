import { yieldToEventLoop } from '../disk/yield.ts';
import { damageError } from './damage.ts';
import type { LogFilesPosition } from './day-files.ts';
import { isValidRecord } from './frame.ts';
import type { FramedLog } from './framed-log.ts';
import { type Line, linesBackward, linesForward, seekLine } from './line-reader.ts';

/** A page stops after reading about this many bytes, and returns the matches found so far. */
const pageBytes = 32 * 1024 * 1024;

/** A page that is filled line by line. */
export interface LogPage<Head> {
  readonly order: 'asc' | 'desc';
  /** Whether the page starts inside the log rather than at its first or last record. */
  readonly hasBoundary: boolean;
  /** Parses the beginning of a line. Returns `undefined` if it is not a record. */
  headOf(line: Buffer): Head | undefined;
  /**
   * Compares a record with the page's boundary. An ascending page starts after the records for
   * which it is true. A descending page has only these records. It must be true up to some record,
   * and false for all later records.
   */
  isBefore(head: Head): boolean;
  /** Whether this record and all later ones are outside the page. */
  isPast?(head: Head): boolean;
  /** Fast filter, which avoids parsing most records. */
  mayMatch(head: Head, line: Buffer): boolean;
  /** Adds the matching parts of a record to the page. Returns whether the page is complete. */
  take(head: Head, line: Buffer, file: string): boolean;
  /** Sets the cursor: the page ends after this record, although it has room for more. */
  endAfter(head: Head, file: string): void;
}

/**
 * Fills a page with the records of these files, in the page's order. Binary search finds the start
 * in the first file, so a page costs the same at any depth.
 */
export async function fillPage<Head>(
  log: FramedLog<unknown, LogFilesPosition>,
  names: readonly string[],
  page: LogPage<Head>,
): Promise<void> {
  let examinedBytes = 0;
  for await (const { name, lines } of pageLines(log, names, page)) {
    for (const { offset, bytes } of lines) {
      const head = headAt(log.path(name), page, bytes, offset);
      if (page.isPast?.(head)) return;
      examinedBytes += bytes.length;
      if (page.mayMatch(head, bytes)) {
        if (!isValidRecord(bytes)) throw damageError(log.path(name), 'a record is damaged', offset);
        if (page.take(head, bytes, name)) return;
      }
      if (examinedBytes >= pageBytes) {
        page.endAfter(head, name);
        return;
      }
    }
    await yieldToEventLoop();
  }
}

function headAt<Head>(path: string, page: LogPage<Head>, line: Buffer, offset: number): Head {
  const head = page.headOf(line);
  if (head === undefined) throw damageError(path, 'a record is damaged', offset);
  return head;
}

/** Yields the lines from the page's boundary on, in groups. */
async function* pageLines<Head>(
  log: FramedLog<unknown, LogFilesPosition>,
  names: readonly string[],
  page: LogPage<Head>,
): AsyncGenerator<{ name: string; lines: Line[] }> {
  let hasBoundary = page.hasBoundary;
  for (const name of names) {
    const file = await log.open(name);
    // The file was purged meanwhile.
    if (!file) continue;
    try {
      const end = name === log.end.file ? log.end.size : await file.size();
      const isBefore = (line: Buffer, offset: number) =>
        page.isBefore(headAt(log.path(name), page, line, offset));
      const boundary = hasBoundary ? await seekLine(file, end, isBefore) : undefined;
      hasBoundary = false;
      const groups =
        page.order === 'asc'
          ? linesForward(file, boundary ?? 0, end)
          : linesBackward(file, 0, boundary ?? end);
      for await (const lines of groups) yield { name, lines };
    } finally {
      await file.close();
    }
  }
}
