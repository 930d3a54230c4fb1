import { addTo, type ImpressionCount } from '../../../domain/events/batch-counts.ts';
import { sortCooperatively } from '../checkpoint/sort-cooperatively.ts';
import type { ImpressionCounter } from './impression-counts.ts';

type CountEntry = [prefix: string, cell: ImpressionCount];

/** Yields each count of a counter with the prefix of its line, sorted by section, day and key. */
async function* entriesOf(counter: ImpressionCounter): AsyncGenerator<CountEntry> {
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

/** Yields the lines of a document with the counts of a counter added, in order. */
export async function* mergedLines(
  before: Iterable<string> | AsyncIterable<string>,
  counter: ImpressionCounter,
): AsyncGenerator<string> {
  const added = entriesOf(counter);
  let more = await added.next();
  for await (const line of before) {
    const place = prefixOf(line);
    for (; !more.done && more.value[0] < place; more = await added.next())
      yield lineOf(...more.value);
    if (more.done || more.value[0] !== place) yield line;
    else {
      const sum = parseCounts(line);
      addTo(sum, more.value[1]);
      yield lineOf(place, sum);
      more = await added.next();
    }
  }
  for (; !more.done; more = await added.next()) yield lineOf(...more.value);
}

function parseCounts(line: string): ImpressionCount {
  const [impressions, seconds] = (JSON.parse(line) as unknown[]).slice(-2) as [number, number];
  return { impressions, seconds };
}
