import type { OpenFile } from '../disk/file-system.ts';
import { yieldToEventLoop } from '../disk/yield.ts';
import { damaged } from './damage.ts';
import type { DayFiles } from './day-files.ts';
import { type Line, linesBackward, linesForward, seekLine } from './line-reader.ts';

/** What can be read of a log of day files. */
export interface LogSource {
  files: DayFiles;
  /** The newest file is good up to `size`, those before it wholly. */
  newest: { file: string | null; size: number };
}

/** A page being filled, line by line. */
export interface LogPage {
  readonly order: 'asc' | 'desc';
  /** It wants no further line. */
  readonly isDone: boolean;
  /** Whether it begins anywhere but at the log's beginning or end. */
  readonly hasBoundary: boolean;
  /**
   * Of the beginning of a line. Ascending, lines for which it holds come before the page; descending, only those for which it holds
   * belong to it. Holds for all lines up to some place, and for none after it; `undefined` for what is no record.
   */
  isBefore(head: Buffer): boolean | undefined;
  take(path: string, line: Line): void;
}

/** Gives a page the lines of these files, in the page's order. Where to begin in the first is found by halving: so a page costs the same at any depth. */
export async function fillPage(
  view: LogSource,
  names: readonly string[],
  page: LogPage,
): Promise<void> {
  let isFirst = true;
  for (const name of names) {
    await readFile(view, name, page, isFirst);
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
  // It was dropped meanwhile.
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
    const answer = page.isBefore(head);
    if (answer === undefined) throw damaged(path, 'a record is damaged', offset);
    return answer;
  };
  const boundary = isFirst && page.hasBoundary ? await seekLine(file, end, isBefore) : undefined;
  return page.order === 'asc'
    ? linesForward(file, boundary ?? 0, end)
    : linesBackward(file, 0, boundary ?? end);
}
