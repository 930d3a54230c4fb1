import { type Cell, sumOf, type Tally } from '../impression-tally.ts';
import { decoded } from './document-file.ts';
import type { WrittenDocument } from './document-owner.ts';
import { textLines } from './text-lines.ts';
import { turn } from './turns.ts';

/** So many keys are sorted between two turns for others: some milliseconds' worth. The lines themselves are asked for a few at a time. */
const atOnce = 2000;

const lineFeed = 0x0a;

type Entry = [prefix: string, cell: Cell];

/** Sorts without keeping others waiting: short runs first, then merged two by two. */
async function sortInTurns(keys: string[]): Promise<string[]> {
  if (keys.length <= atOnce) return keys.sort();
  await turn();
  const middle = Math.ceil(keys.length / 2);
  return mergeTwo(await sortInTurns(keys.slice(0, middle)), await sortInTurns(keys.slice(middle)));
}

async function mergeTwo(left: string[], right: string[]): Promise<string[]> {
  const merged: string[] = [];
  let at = 0;
  for (const key of left) {
    for (let other = right[at]; other !== undefined && other < key; other = right[++at]) merged.push(other);
    merged.push(key);
    if (merged.length % atOnce === 0) await turn();
  }
  return merged.concat(right.slice(at));
}

/** A tally's cells with the beginnings of their lines, sorted. */
async function* entriesOf(tally: Tally): AsyncGenerator<Entry> {
  for (const section of [...tally.sections.keys()].sort()) {
    const days = tally.sections.get(section) as Map<string, Map<string, Cell>>;
    for (const day of [...days.keys()].sort()) {
      const cells = days.get(day) as Map<string, Cell>;
      for (const key of await sortInTurns([...cells.keys()]))
        yield [`${section}${JSON.stringify(day)},${JSON.stringify(key)}`, cells.get(key) as Cell];
    }
  }
}

/** What stands before the two counts that end a line. */
export function prefixOf(line: string): string {
  return line.slice(0, line.lastIndexOf(',', line.lastIndexOf(',') - 1));
}

function lineOf(prefix: string, { impressions, seconds }: Cell): string {
  return `${prefix},${impressions},${seconds}]`;
}

/** The lines of a document with a tally added, in order. */
export async function* mergedLines(before: WrittenDocument | undefined, tally: Tally): AsyncGenerator<string> {
  const old = textLines((await before?.read()) ?? '');
  let line = old.next();
  for await (const [prefix, cell] of entriesOf(tally)) {
    for (; !line.done && prefixOf(line.value) < prefix; line = old.next()) yield line.value;
    if (!line.done && prefixOf(line.value) === prefix) {
      yield lineOf(prefix, sumOf(cellOf(line.value), cell));
      line = old.next();
    } else yield lineOf(prefix, cell);
  }
  for (; !line.done; line = old.next()) yield line.value;
}

function cellOf(line: string): Cell {
  const [impressions, seconds] = (JSON.parse(line) as unknown[]).slice(-2) as [number, number];
  return { impressions, seconds };
}

/** What a line of a document says behind its section. */
type RollupCell = [day: string, key: string, impressions: number, seconds: number];

/** The cells of some sections of one group, which are sorted, reading no further than that; many at a time. */
export async function* sectionCells(document: WrittenDocument, sections: readonly string[]): AsyncGenerator<RollupCell[]> {
  const wanted = new Set(sections);
  const last = sections.at(-1);
  if (last === undefined) return;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of document.chunks()) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(lineFeed) + 1;
    rest = bytes.subarray(end);
    const { cells, isPast } = cellsWithin(decoded(bytes.subarray(0, end)), wanted, last);
    if (cells.length > 0) yield cells;
    if (isPast) return;
    await turn();
  }
  yield cellsWithin(rest.toString(), wanted, last).cells;
}

/** The cells of whole lines that are wanted, and whether one comes after the last of these. */
function cellsWithin(text: string, wanted: ReadonlySet<string>, last: string): { cells: RollupCell[]; isPast: boolean } {
  let cells: RollupCell[] = [];
  for (let start = 0; start < text.length; ) {
    // Scopes are ids, all of one length.
    const section = text.slice(start, start + last.length);
    const isWanted = wanted.has(section);
    if (!isWanted && section > last) return { cells, isPast: true };
    const end = isWanted ? endOfSection(text, section, start) : endOfLine(text, start);
    if (isWanted) {
      const found = cellsOf(text.slice(start, end), section);
      cells = cells.length === 0 ? found : cells.concat(found);
    }
    start = end;
  }
  return { cells, isPast: false };
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end + 1;
}

function endOfSection(text: string, section: string, start: number): number {
  // Most often it goes on to the end of what was read.
  if (text.startsWith(section, text.lastIndexOf('\n', text.length - 2) + 1)) return text.length;
  let end = start;
  while (end < text.length && text.startsWith(section, end)) end = endOfLine(text, end);
  return end;
}

/** Lines of one section, parsed all at once, without what they begin with: a report by screen has a million of them. */
function cellsOf(lines: string, section: string): RollupCell[] {
  return JSON.parse(`[[${lines.slice(section.length).trimEnd().replaceAll(`\n${section}`, ',[')}]`);
}
