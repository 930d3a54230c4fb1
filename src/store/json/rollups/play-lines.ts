import {
  addCell,
  addCount,
  type PlayCell,
  type PlayKey,
  textOfKey,
} from '../../../domain/events/plays.ts';
import type { ReportClock } from '../../../domain/records/report.ts';
import { playRecord, type Records } from '../../dump/records.ts';
import { parsePlace, readCells, sortedCells, textOfCells } from '../../plays.ts';
import { sortCooperatively } from '../checkpoint/sort-cooperatively.ts';
import type { Lines } from './day-documents.ts';

/** Counts of the documents' lines that are not written yet: by place, and by key. */
export class PlayCounter {
  readonly places = new Map<string, Map<string, PlayCell>>();
  readonly #keys = new Map<string, [text: string, key: PlayKey]>();

  get isEmpty(): boolean {
    return this.places.size === 0;
  }

  /** Adds a cell of a place. All places share the strings of a key. */
  add(place: string, text: string, more: PlayCell): void {
    const cells = this.places.get(place) ?? new Map<string, PlayCell>();
    this.places.set(place, cells);
    const cell = cells.get(text);
    if (cell) {
      addCount(cell, more);
      return;
    }
    const { creativeId, campaignId, entryId, ...count } = more;
    const known = this.#keys.get(text);
    const [sharedText, key] = known ?? [text, { creativeId, campaignId, entryId }];
    if (!known) this.#keys.set(text, [text, key]);
    cells.set(sharedText, { ...key, ...count });
  }
}

/** Beginning of a line that numbers a key. No tenant has an empty id. */
export const keyOpening = '["",';

/** The numbered keys of a document. */
class Keys {
  readonly list: PlayKey[] = [];
  readonly #numbers = new Map<string, number>();

  add(key: PlayKey): number {
    const { creativeId, campaignId, entryId } = key;
    const number = this.list.push({ creativeId, campaignId, entryId }) - 1;
    this.#numbers.set(textOfKey(key), number);
    return number;
  }

  has(text: string): boolean {
    return this.#numbers.has(text);
  }

  numberOf(key: PlayKey): number {
    return this.#numbers.get(textOfKey(key)) as number;
  }
}

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
export async function* mergedPlays(before: Lines, { places }: PlayCounter): AsyncGenerator<string> {
  const keys = new Keys();
  const addKeys = function* () {
    for (const cells of places.values()) {
      for (const [text, cell] of cells) {
        if (keys.has(text)) continue;
        const { creativeId, campaignId, entryId } = cell;
        const number = keys.add(cell);
        yield `${keyOpening}${JSON.stringify([number, creativeId, campaignId, entryId]).slice(1)}`;
      }
    }
  };
  const added = await sortCooperatively([...places.keys()]);
  let next = 0;
  let hasKeys = false;
  const cellsAt = (place: string) => places.get(place) as Map<string, PlayCell>;
  const addedLine = (place: string, cells = cellsAt(place)) => {
    const numbered = sortedCells(cells).map((cell) => [keys.numberOf(cell), cell] as const);
    return `${place},"${textOfCells(numbered)}"]`;
  };
  for await (const line of before) {
    const numbered = keyOfLine(line);
    if (numbered) {
      keys.add(numbered[1]);
      yield line;
      continue;
    }
    if (!hasKeys) yield* addKeys();
    hasKeys = true;
    const { place, start } = splitLine(line);
    for (; next < added.length && (added[next] as string) < place; next++)
      yield addedLine(added[next] as string);
    if (added[next] !== place) yield line;
    else {
      const sums = cellsIn(line, start, (number) => keys.list[number]);
      for (const [text, cell] of cellsAt(place)) addCell(sums, text, cell);
      yield addedLine(place, sums);
      next++;
    }
  }
  if (!hasKeys) yield* addKeys();
  for (; next < added.length; next++) yield addedLine(added[next] as string);
}

/** Returns the cells of a line by the text of their keys. Leaves out those whose key is lost. */
function cellsIn(
  line: string,
  start: number,
  keyOf: (number: number) => PlayKey | undefined,
): Map<string, PlayCell> {
  const cells = new Map<string, PlayCell>();
  readCells(line, start, line.length - 2, keyOf, (key, events, seconds, partial, unknown) => {
    cells.set(textOfKey(key), { ...key, events, seconds, partial, unknown });
  });
  return cells;
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
      const cells = cellsIn(line, start, (number) => keys.get(number));
      yield playRecord(parsePlace(place, clock), sortedCells(cells));
    }
  }
}
