import { yieldToEventLoop } from '../disk/yield.ts';
import { damageError } from './damage.ts';
import type { LogFilesPosition } from './day-files.ts';
import { isValidRecord } from './frame.ts';
import type { FramedLog, LogRange } from './framed-log.ts';
import { type Line, linesBackward, linesForward, seekLine } from './line-reader.ts';

/** A page stops after reading about this many bytes, and returns the matches found so far. */
const pageBytes = 32 * 1024 * 1024;

/** Selects the records of a page. */
export interface PageScan<Head> {
  order: 'asc' | 'desc';
  /** Parses the beginning of a line. Returns `undefined` if it is not a record. */
  headOf(line: Buffer): Head | undefined;
  /**
   * Returns whether a record is before the page's boundary. An ascending page starts after these
   * records. A descending page has only these records. The result must be true up to some record,
   * and false for all later records. `undefined`: an ascending page starts at the first record, and
   * a descending page at the last.
   */
  isBefore?: ((head: Head) => boolean) | undefined;
  /** Whether this record, and all records after it in the page's order, are outside the page. */
  isPast?(head: Head): boolean;
  /** Fast filter that avoids parsing most records. Must return true for every match. */
  mayMatch(head: Head, line: Buffer): boolean;
}

/**
 * A record that may match. Without `line`, the byte limit of the page is reached, and the page ends
 * after this record.
 */
export interface PageRecord<Head> {
  file: string;
  head: Head;
  line?: Buffer;
}

/**
 * Yields the records in `range` that may match, in the page's order. Binary search finds the start
 * in the first file, so a page costs the same at any depth.
 */
export async function* pageRecords<Head>(
  log: FramedLog<unknown, LogFilesPosition>,
  range: LogRange,
  scan: PageScan<Head>,
): AsyncGenerator<PageRecord<Head>> {
  let examinedBytes = 0;
  for await (const { file, lines } of pageLines(log, range, scan)) {
    for (const { offset, bytes: line } of lines) {
      const head = headAt(log.path(file), scan, line, offset);
      if (scan.isPast?.(head)) return;
      examinedBytes += line.length;
      if (scan.mayMatch(head, line)) {
        if (!isValidRecord(line)) throw damageError(log.path(file), 'a record is damaged', offset);
        yield { file, head, line };
      }
      if (examinedBytes >= pageBytes) {
        yield { file, head };
        return;
      }
    }
    await yieldToEventLoop();
  }
}

function headAt<Head>(path: string, scan: PageScan<Head>, line: Buffer, offset: number): Head {
  const head = scan.headOf(line);
  if (head === undefined) throw damageError(path, 'a record is damaged', offset);
  return head;
}

/** Yields the lines from the page's boundary on, in groups. */
async function* pageLines<Head>(
  log: FramedLog<unknown, LogFilesPosition>,
  { names, end }: LogRange,
  scan: PageScan<Head>,
): AsyncGenerator<{ file: string; lines: Line[] }> {
  let { isBefore } = scan;
  for (const file of names) {
    const opened = await log.open(file);
    // The file was purged meanwhile.
    if (!opened) continue;
    try {
      const size = file === end.file ? end.size : await opened.size();
      const isLineBefore = (line: Buffer, offset: number) =>
        isBefore?.(headAt(log.path(file), scan, line, offset)) === true;
      const boundary = isBefore && (await seekLine(opened, size, isLineBefore));
      isBefore = undefined;
      const groups =
        scan.order === 'asc'
          ? linesForward(opened, boundary ?? 0, size)
          : linesBackward(opened, 0, boundary ?? size);
      for await (const lines of groups) yield { file, lines };
    } finally {
      await opened.close();
    }
  }
}
