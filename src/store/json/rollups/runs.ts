import type { WrittenDocument } from '../checkpoint/document-owner.ts';
import { yieldToEventLoop } from '../disk/yield.ts';

const lineFeed = 0x0a;
const quote = 0x22;

/** Whole lines of a document that all begin alike, with the same section and day: what differs begins `opening` bytes behind. */
export interface RollupRun {
  bytes: Buffer;
  start: number;
  end: number;
  opening: number;
  day: string;
}

/**
 * The lines of some sections of one group, which are sorted, reading hardly more than these. Lines are handed out as they lie there, many at once: a report by
 * screen has a million of them, and to make strings of all takes most of a second. A run is good until the next one is asked for.
 */
export async function* sectionRuns(
  document: WrittenDocument,
  sections: readonly string[],
): AsyncGenerator<RollupRun> {
  const [wanted, first, last] = [new Set(sections), sections[0], sections.at(-1)];
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

/** The runs in whole lines; returns whether a line comes after the last of the sections. */
function* runsWithin(
  bytes: Buffer,
  wanted: ReadonlySet<string>,
  last: string,
): Generator<RollupRun, boolean> {
  for (let start = 0; start < bytes.length; ) {
    // Scopes are ids, all of one length.
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
  // Lines are sorted, and most often it goes on to the end of what was read.
  if (beginAlike(bytes, start, bytes.lastIndexOf(lineFeed, bytes.length - 2) + 1, opening))
    return bytes.length;
  let end = endOfLine(bytes, start);
  while (end < bytes.length && beginAlike(bytes, start, end, opening)) end = endOfLine(bytes, end);
  return end;
}

function beginAlike(bytes: Buffer, one: number, other: number, length: number): boolean {
  // From behind, where they differ if they do.
  for (let at = length - 1; at >= 0; at--) if (bytes[one + at] !== bytes[other + at]) return false;
  return true;
}
