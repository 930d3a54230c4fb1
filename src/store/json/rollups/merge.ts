import { addTo, type ImpressionCount } from '../../../domain/events/batch-counts.ts';
import { textLines } from '../checkpoint/document-file.ts';
import type { WrittenDocument } from '../checkpoint/document-owner.ts';
import { yieldToEventLoop } from '../disk/yield.ts';
import type { ImpressionCounter } from './impression-counts.ts';

/**
 * Number of keys sorted between two yields to the event loop. Sorting so many takes some
 * milliseconds.
 */
const sliceKeys = 2000;

type Entry = [prefix: string, cell: ImpressionCount];

/** Merge sort that yields to the event loop. */
async function sortCooperatively(keys: string[]): Promise<string[]> {
  if (keys.length <= sliceKeys) return keys.sort();
  await yieldToEventLoop();
  const middle = Math.ceil(keys.length / 2);
  return mergeTwo(
    await sortCooperatively(keys.slice(0, middle)),
    await sortCooperatively(keys.slice(middle)),
  );
}

async function mergeTwo(left: string[], right: string[]): Promise<string[]> {
  const merged: string[] = [];
  let at = 0;
  for (const key of left) {
    for (let other = right[at]; other !== undefined && other < key; other = right[++at])
      merged.push(other);
    merged.push(key);
    if (merged.length % sliceKeys === 0) await yieldToEventLoop();
  }
  return merged.concat(right.slice(at));
}

/** Yields each count of a counter with the prefix of its line, sorted by section, day and key. */
async function* entriesOf(counter: ImpressionCounter): AsyncGenerator<Entry> {
  for (const [section, days] of [...counter.sections].sort(byName)) {
    for (const [day, counts] of [...days].sort(byName)) {
      for (const key of await sortCooperatively([...counts.keys()]))
        yield [
          `${section}${JSON.stringify(day)},${JSON.stringify(key)}`,
          counts.get(key) as ImpressionCount,
        ];
    }
  }
}

function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}

/** Returns the part of a line before its two counts. */
export function prefixOf(line: string): string {
  return line.slice(0, line.lastIndexOf(',', line.lastIndexOf(',') - 1));
}

function lineOf(prefix: string, { impressions, seconds }: ImpressionCount): string {
  return `${prefix},${impressions},${seconds}]`;
}

/** Yields the lines of a document with a counter's counts added, in order. */
export async function* mergedLines(
  before: WrittenDocument | undefined,
  counter: ImpressionCounter,
): AsyncGenerator<string> {
  const old = textLines((await before?.text()) ?? '');
  let line = old.next();
  for await (const [prefix, cell] of entriesOf(counter)) {
    for (; !line.done && prefixOf(line.value) < prefix; line = old.next()) yield line.value;
    if (!line.done && prefixOf(line.value) === prefix) {
      const sum = parseCounts(line.value);
      addTo(sum, cell);
      yield lineOf(prefix, sum);
      line = old.next();
    } else yield lineOf(prefix, cell);
  }
  for (; !line.done; line = old.next()) yield line.value;
}

function parseCounts(line: string): ImpressionCount {
  const [impressions, seconds] = (JSON.parse(line) as unknown[]).slice(-2) as [number, number];
  return { impressions, seconds };
}
