import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { tryParseJson } from '../../domain/json/try-parse-json.ts';
import {
  type DumpEnd,
  type DumpHead,
  readableDumpFormats,
  recordJson,
  type SectionCounts,
  storeId,
} from './dump.ts';
import {
  type DumpRecords,
  type DumpSection,
  type Records,
  sectionNames,
  shapeOf,
} from './records.ts';

/** A dump that is damaged, truncated or no dump. `line` counts from 1. */
export class DumpError extends Error {
  readonly line: number;

  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
    this.line = line;
  }
}

/**
 * Limits of a line in bytes. A line is held in memory. The largest is a playlist or a batch, of
 * which a request has at most 1 MiB.
 */
const maxHeadBytes = 1024;
const maxLineBytes = 16 * 1024 * 1024;

/** Maximum length of a text of the dump in a message. */
const maxShown = 200;

const headSchema = z.strictObject({
  format: z.literal(readableDumpFormats),
  store: z.string(),
  at: z.iso.datetime(),
});
const endSchema = z.strictObject({
  counts: z.record(z.string(), z.int().positive()),
  sha256: z.string(),
});

export interface DumpRecord<S extends DumpSection = DumpSection> {
  line: number;
  section: S;
  record: DumpRecords[S];
}

/** Yields the head of a dump, then its records, then its end. Throws `DumpError`. */
export async function* readDump(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ head: DumpHead } | DumpRecord | { end: DumpEnd }> {
  const sha256 = createHash('sha256');
  const counts: SectionCounts = {};
  const names: readonly DumpSection[] = [...sectionNames(), 'files'];
  let number = 0;
  let place = -1;
  let key: string | undefined;
  let head: DumpHead | undefined;
  let end: DumpEnd | undefined;
  for await (const bytes of linesOf(source)) {
    number++;
    const refuse = (problem: string): never => {
      throw new DumpError(number, problem);
    };
    const parse = <T>(schema: z.ZodType<T>, value: unknown, what: string): T => {
      const parsed = schema.safeParse(value);
      if (parsed.success) return parsed.data;
      const [issue] = parsed.error.issues;
      return refuse(
        `${what} is not valid: ${shown([...(issue?.path ?? []), issue?.message].join(': '))}`,
      );
    };
    if (end) refuse('something stands after the end');
    const json = jsonIn(bytes, refuse);
    const line = (tryParseJson(json) ?? refuse('it is not JSON')) as object;
    if (number === 1) {
      const dump = 'dump' in line ? line.dump : refuse('it is not the first line of a dump');
      head = parse(headSchema, dump, 'the first line');
      if (JSON.stringify({ dump: head }) !== json) refuse('it is not written as in a dump');
      yield { head };
    } else if ('end' in line) {
      end = parse(endSchema, line.end, 'the last line');
      if (JSON.stringify(end.counts) !== JSON.stringify(counts))
        refuse('the counts of the records differ');
      if (sha256.digest('hex') !== end.sha256) refuse('the SHA-256 of the dump differs');
      yield { end };
      continue;
    } else {
      const { section, row } = line as { section: DumpSection; row: unknown };
      const now = names.indexOf(section);
      if (now < 0) refuse('it has no section that this version knows');
      if (now < place) refuse(`section ${section} is out of order`);
      if (place < 0 && section !== 'server') refuse('the record of the server is missing');
      if (now > place) key = undefined;
      place = now;
      const { schema, keyOf } = shapeOf(section);
      const body = section === 'batches' ? withBody(row, bytes) : row;
      const record = parse<DumpRecords[DumpSection]>(schema, body, `the record of ${section}`);
      if (recordJson(section, record) !== json)
        refuse(`the record of ${section} is not written as in a dump`);
      if (section === 'server' && head?.store !== storeId((record as Records['server']).secret))
        refuse('its secret is not that of the store in the first line');
      const next = (keyOf as ((record: unknown) => string) | undefined)?.(record);
      if (next !== undefined && key !== undefined && next <= key)
        refuse(`the record of ${section} is out of order, or is repeated`);
      key = next;
      counts[section] = (counts[section] ?? 0) + 1;
      yield { line: number, section, record } as DumpRecord;
    }
    sha256.update(bytes);
    sha256.update('\n');
  }
  if (!end) throw new DumpError(number + 1, 'the dump ends here, without its last line');
}

/** Returns a text of a dump as part of a message of one line. */
function shown(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, maxShown);
}

function jsonIn(line: Buffer, refuse: (problem: string) => never): string {
  if (!/^[0-9a-f]{8} \{/.test(line.toString('latin1', 0, 10)))
    refuse('it does not begin with a checksum and a record');
  if (crc32(line.subarray(9)) !== Number.parseInt(line.toString('latin1', 0, 8), 16))
    refuse('its checksum is wrong');
  return line.toString('utf8', 9);
}

const beforeEvents = '"events":';

/** Replaces the parsed events of a batch with their bytes. */
function withBody(row: unknown, line: Buffer): unknown {
  if (typeof row !== 'object' || row === null || !('events' in row)) return row;
  const { events, ...head } = row;
  const start = line.indexOf(beforeEvents) + beforeEvents.length;
  return {
    ...head,
    ...(Array.isArray(events) && { body: line.toString('utf8', start, line.length - 2) }),
  };
}

/** Yields the lines of a stream without their line feeds. Refuses a line that is too long. */
async function* linesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let number = 1;
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let stop = bytes.indexOf(0x0a); stop >= 0; stop = bytes.indexOf(0x0a, start)) {
      const line = bytes.subarray(start, stop);
      yield pendingBytes === 0 ? line : Buffer.concat([...pending, line]);
      pending = [];
      pendingBytes = 0;
      start = stop + 1;
      number++;
    }
    if (start === bytes.length) continue;
    pending.push(Buffer.from(bytes.subarray(start)));
    pendingBytes += bytes.length - start;
    const limit = number === 1 ? maxHeadBytes : maxLineBytes;
    if (pendingBytes > limit) throw new DumpError(number, `it has more than ${limit} bytes`);
  }
  if (pendingBytes > 0) throw new DumpError(number, 'it is cut short: it has no line feed');
}
