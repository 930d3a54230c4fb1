import { addTo, type Cell } from '../../../domain/events/batch-counts.ts';
import type { WrittenDocument } from '../checkpoint/document-owner.ts';
import { textLines } from '../checkpoint/lines.ts';
import { yieldToEventLoop } from '../disk/yield.ts';
import type { ImpressionCounter } from './impression-counts.ts';

/** So many keys are sorted between two turns for others: some milliseconds' worth. The lines themselves are asked for a few at a time. */
const atOnce = 2000;

type Entry = [prefix: string, cell: Cell];

/** Sorts without keeping others waiting: short runs first, then merged two by two. */
async function sortInTurns(keys: string[]): Promise<string[]> {
  if (keys.length <= atOnce) return keys.sort();
  await yieldToEventLoop();
  const middle = Math.ceil(keys.length / 2);
  return mergeTwo(await sortInTurns(keys.slice(0, middle)), await sortInTurns(keys.slice(middle)));
}

async function mergeTwo(left: string[], right: string[]): Promise<string[]> {
  const merged: string[] = [];
  let at = 0;
  for (const key of left) {
    for (let other = right[at]; other !== undefined && other < key; other = right[++at])
      merged.push(other);
    merged.push(key);
    if (merged.length % atOnce === 0) await yieldToEventLoop();
  }
  return merged.concat(right.slice(at));
}

/** A tally's cells with the beginnings of their lines, sorted. */
async function* entriesOf(tally: ImpressionCounter): AsyncGenerator<Entry> {
  for (const section of [...tally.sections.keys()].sort()) {
    const days = tally.sections.get(section) as Map<string, number>;
    for (const day of [...days.keys()].sort()) {
      const owner = days.get(day) as number;
      const keys = Array.from(tally.cellsOf(owner), ([key]) => key);
      for (const key of await sortInTurns(keys)) {
        yield [`${section}${JSON.stringify(day)},${JSON.stringify(key)}`, tally.cellOf(owner, key)];
      }
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
export async function* mergedLines(
  before: WrittenDocument | undefined,
  tally: ImpressionCounter,
): AsyncGenerator<string> {
  const old = textLines((await before?.read()) ?? '');
  let line = old.next();
  for await (const [prefix, cell] of entriesOf(tally)) {
    for (; !line.done && prefixOf(line.value) < prefix; line = old.next()) yield line.value;
    if (!line.done && prefixOf(line.value) === prefix) {
      const sum = cellOf(line.value);
      addTo(sum, cell);
      yield lineOf(prefix, sum);
      line = old.next();
    } else yield lineOf(prefix, cell);
  }
  for (; !line.done; line = old.next()) yield line.value;
}

function cellOf(line: string): Cell {
  const [impressions, seconds] = (JSON.parse(line) as unknown[]).slice(-2) as [number, number];
  return { impressions, seconds };
}
