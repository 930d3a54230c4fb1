import type { WrittenDocument } from '../checkpoint/document-owner.ts';
import { yieldToEventLoop } from '../disk/yield.ts';

const lineFeed = 0x0a;
const quote = 0x22;

/**
 * Consecutive whole lines of the same section and day. Each has a common prefix of `opening` bytes.
 */
export interface RollupRun {
  bytes: Buffer;
  start: number;
  end: number;
  opening: number;
  day: string;
}

/**
 * Yields the lines of some sections of one group, in order, and reads little more than these. A
 * report by screen has a million lines, and making strings of all takes most of a second. So lines
 * are yielded as byte ranges, many at once. A run is valid until the next one is requested.
 */
export async function* sectionRuns(
  document: WrittenDocument,
  sections: readonly string[],
): AsyncGenerator<RollupRun> {
  const wanted = new Set(sections);
  const first = sections[0];
  const last = sections.at(-1);
  if (first === undefined || last === undefined) return;
  const comesBefore = (head: Buffer) => head.toString('latin1', 0, first.length) < first;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of document.chunks(comesBefore)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(lineFeed) + 1;
    const isPast = yield* runsWithin(bytes.subarray(0, end), wanted, last);
    if (isPast) return;
    rest = Buffer.from(bytes.subarray(end));
    await yieldToEventLoop();
  }
  if (rest.length > 0) yield* runsWithin(Buffer.concat([rest, Buffer.of(lineFeed)]), wanted, last);
}

/** Yields the runs in whole lines. Returns whether a line follows the last of the sections. */
function* runsWithin(
  bytes: Buffer,
  wanted: ReadonlySet<string>,
  last: string,
): Generator<RollupRun, boolean> {
  for (let start = 0; start < bytes.length; ) {
    // Scopes are ids of equal length.
    const section = bytes.toString('latin1', start, start + last.length);
    if (wanted.has(section)) {
      const dayStart = start + section.length + 1;
      const dayEnd = bytes.indexOf(quote, dayStart);
      const run = {
        bytes,
        start,
        end: 0,
        opening: dayEnd + '","'.length - start,
        day: bytes.toString('latin1', dayStart, dayEnd),
      };
      run.end = endOfRun(run);
      yield run;
      start = run.end;
    } else if (section > last) return true;
    else start = endOfLine(bytes, start);
  }
  return false;
}

function endOfLine(bytes: Buffer, start: number): number {
  return bytes.indexOf(lineFeed, start) + 1;
}

function endOfRun({ bytes, start, opening }: RollupRun): number {
  // Lines are sorted, and a run mostly extends to the end of the bytes read.
  if (haveSamePrefix(bytes, start, bytes.lastIndexOf(lineFeed, bytes.length - 2) + 1, opening))
    return bytes.length;
  let end = endOfLine(bytes, start);
  while (end < bytes.length && haveSamePrefix(bytes, start, end, opening))
    end = endOfLine(bytes, end);
  return end;
}

function haveSamePrefix(bytes: Buffer, one: number, other: number, length: number): boolean {
  // Compares from the end, where differences are likely.
  for (let at = length - 1; at >= 0; at--) if (bytes[one + at] !== bytes[other + at]) return false;
  return true;
}
