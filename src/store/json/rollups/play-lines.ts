import {
  addCount,
  type PlayCell,
  type PlayCount,
  type PlayKey,
  textOfKey,
} from '../../../domain/events/plays.ts';
import type { ReportClock } from '../../../domain/records/report.ts';
import { playRecord, type Records } from '../../dump/records.ts';
import { parsePlace, readCells, sortedCells, textOfCells } from '../../plays.ts';
import { sortCooperatively } from '../checkpoint/sort-cooperatively.ts';
import type { Lines } from './day-documents.ts';

/** Counts by the number of their key. */
type NumberedCells = Map<number, PlayCount>;

/** Numbered keys. */
class Keys {
  readonly list: PlayKey[] = [];
  readonly #numbers = new Map<string, number>();

  /** Returns the number of a key, which is added if it is new. */
  numberOf(text: string, { creativeId, campaignId, entryId }: PlayKey): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.list.push({ creativeId, campaignId, entryId }) - 1;
    this.#numbers.set(text, number);
    return number;
  }
}

function addNumbered(cells: NumberedCells, number: number, more: PlayCount): void {
  const cell = cells.get(number);
  const { events, seconds, partial, unknown } = more;
  if (cell) addCount(cell, more);
  else cells.set(number, { events, seconds, partial, unknown });
}

/** Counts of the documents' lines that are not written yet, by place. */
export class PlayCounter {
  readonly places = new Map<string, NumberedCells>();
  readonly keys = new Keys();

  get isEmpty(): boolean {
    return this.places.size === 0;
  }

  /** Adds a cell of a place. */
  add(place: string, text: string, more: PlayCell): void {
    const cells: NumberedCells = this.places.get(place) ?? new Map();
    this.places.set(place, cells);
    addNumbered(cells, this.keys.numberOf(text, more), more);
  }
}

/** Beginning of a line that numbers a key. No tenant has an empty id. */
export const keyOpening = '["",';

/** Parses a line that numbers a key. `undefined`: another line. */
export function keyOfLine(line: string): [number: number, key: PlayKey] | undefined {
  if (!line.startsWith(keyOpening)) return undefined;
  const [, number, creativeId, campaignId, entryId] = JSON.parse(line);
  return [number, { creativeId, campaignId, entryId }];
}

/** Returns the place of a line with cells, and where the text of these begins. */
export function splitLine(line: string): { place: string; start: number } {
  const at = line.lastIndexOf(',"');
  return { place: line.slice(0, at), start: at + 2 };
}

/** Yields the lines of a document with the counts of a counter added, in order. */
export async function* mergedPlays(before: Lines, counter: PlayCounter): AsyncGenerator<string> {
  const { places } = counter;
  const keys = new Keys();
  /** The numbers in the document of the counter's keys. */
  let numbers: readonly number[] | undefined;
  const addKeys = function* () {
    const known = keys.list.length;
    numbers = counter.keys.list.map((key) => keys.numberOf(textOfKey(key), key));
    for (const [place, { creativeId, campaignId, entryId }] of keys.list.slice(known).entries()) {
      const members = [known + place, creativeId, campaignId, entryId];
      yield `${keyOpening}${JSON.stringify(members).slice(1)}`;
    }
  };
  const added = await sortCooperatively([...places.keys()]);
  let next = 0;
  const addedLine = (place: string, sums: NumberedCells = new Map()) => {
    for (const [number, cell] of places.get(place) as NumberedCells)
      addNumbered(sums, numbers?.[number] as number, cell);
    return `${place},"${textOfCells(sums)}"]`;
  };
  for await (const line of before) {
    const numbered = keyOfLine(line);
    if (numbered) {
      keys.numberOf(textOfKey(numbered[1]), numbered[1]);
      yield line;
      continue;
    }
    if (!numbers) yield* addKeys();
    const { place, start } = splitLine(line);
    for (; next < added.length && (added[next] as string) < place; next++)
      yield addedLine(added[next] as string);
    if (added[next] !== place) yield line;
    else {
      const sums: NumberedCells = new Map();
      const known = (number: number) => (number < keys.list.length ? number : undefined);
      eachCell(line, start, known, (number, cell) => sums.set(number, cell));
      yield addedLine(place, sums);
      next++;
    }
  }
  if (!numbers) yield* addKeys();
  for (; next < added.length; next++) yield addedLine(added[next] as string);
}

/** Reads the cells of a line. Leaves out those whose key is lost. */
function eachCell<K>(
  line: string,
  start: number,
  keyOf: (number: number) => K | undefined,
  use: (key: K, cell: PlayCount) => void,
): void {
  readCells(line, start, line.length - 2, keyOf, (key, events, seconds, partial, unknown) =>
    use(key, { events, seconds, partial, unknown }),
  );
}

/** Parses the lines of a document to records. */
export async function* playRecords(
  lines: Lines,
  clock: ReportClock,
): AsyncGenerator<Records['plays']> {
  const keys = new Map<number, PlayKey>();
  for await (const line of lines) {
    const numbered = keyOfLine(line);
    if (numbered) keys.set(...numbered);
    else {
      const { place, start } = splitLine(line);
      const cells = new Map<string, PlayCell>();
      const keyOf = (number: number) => keys.get(number);
      eachCell(line, start, keyOf, (key, cell) => cells.set(textOfKey(key), { ...key, ...cell }));
      yield playRecord(parsePlace(place, clock), sortedCells(cells));
    }
  }
}
