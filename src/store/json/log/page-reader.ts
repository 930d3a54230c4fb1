import type { OpenFile } from '../disk/file-system.ts';
import { yieldToEventLoop } from '../disk/yield.ts';
import { damageError } from './damage.ts';
import type { DayFiles } from './day-files.ts';
import { type Line, linesBackward, linesForward, seekLine } from './line-reader.ts';

/** The readable part of a log of day files. */
export interface LogSource {
  files: DayFiles;
  /** The newest file is valid up to `size`, earlier files entirely. */
  newest: { file: string | null; size: number };
}

/** A page that is filled line by line. */
export interface LogPage {
  readonly order: 'asc' | 'desc';
  /** The page needs no more lines. */
  readonly isDone: boolean;
  /** Whether the page starts inside the log rather than at its first or last record. */
  readonly hasBoundary: boolean;
  /**
   * Compares the start of a line with the page's boundary. Ascending: lines for which it is true
   * precede the page. Descending: only lines for which it is true belong to it. True for all lines
   * up to some place, and false after it. `undefined` if the line is not a record.
   */
  isBefore(head: Buffer): boolean | undefined;
  take(path: string, line: Line): void;
}

/**
 * Fills a page with the lines of these files, in the page's order. Binary search finds the start in
 * the first file, so a page costs the same at any depth.
 */
export async function fillPage(
  source: LogSource,
  names: readonly string[],
  page: LogPage,
): Promise<void> {
  let isFirst = true;
  for (const name of names) {
    await readFile(source, name, page, isFirst);
    if (page.isDone) return;
    isFirst = false;
  }
}

async function readFile(
  { files, newest }: LogSource,
  name: string,
  page: LogPage,
  isFirst: boolean,
): Promise<void> {
  const path = files.path(name);
  const file = await files.open(name);
  // Purged meanwhile.
  if (!file) return;
  try {
    const end = name === newest.file ? newest.size : await file.size();
    for await (const lines of await linesOf(file, path, end, page, isFirst)) {
      for (const line of lines) if (!page.isDone) page.take(path, line);
      if (page.isDone) return;
      await yieldToEventLoop();
    }
  } finally {
    await file.close();
  }
}

async function linesOf(
  file: OpenFile,
  path: string,
  end: number,
  page: LogPage,
  isFirst: boolean,
): Promise<AsyncGenerator<Line[]>> {
  const isBefore = (head: Buffer, offset: number) => {
    const result = page.isBefore(head);
    if (result === undefined) throw damageError(path, 'a record is damaged', offset);
    return result;
  };
  const boundary = isFirst && page.hasBoundary ? await seekLine(file, end, isBefore) : undefined;
  return page.order === 'asc'
    ? linesForward(file, boundary ?? 0, end)
    : linesBackward(file, 0, boundary ?? end);
}
