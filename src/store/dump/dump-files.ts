import { createHash } from 'node:crypto';
import type { MediaReader } from '../store.ts';
import { DumpError, type DumpRecord, type readDump } from './read-dump.ts';
import type { DumpRecords } from './records.ts';

/** Where a restore puts the bytes of media files. */
export interface FileTarget extends MediaReader {
  /** Stores a file. If `content` throws, stores nothing, and passes the error on. */
  put(id: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** Removes everything that was stored. */
  undo(): Promise<void>;
  close(): Promise<void>;
}

/** Bytes of a record, which is one line. */
const chunkBytes = 64 * 1024;

/** Returns the size of a file, or `undefined` if it is missing, or its bytes are not its own. */
async function intactSize(files: MediaReader, id: string): Promise<number | undefined> {
  const digest = createHash('sha256');
  let size = 0;
  for await (const bytes of (await files.open(id)) ?? []) {
    digest.update(bytes);
    size += bytes.length;
  }
  return digest.digest('hex') === id ? size : undefined;
}

/**
 * Yields a file as records of a dump. Yields none for a file that is missing or changed: a restore
 * would refuse the whole dump.
 */
export async function* fileRecords(
  files: MediaReader,
  id: string,
): AsyncGenerator<DumpRecords['files']> {
  const size = await intactSize(files, id);
  const content = size === undefined ? undefined : await files.open(id);
  if (size === undefined || !content) return;
  let offset = 0;
  let held = Buffer.alloc(0);
  for await (const bytes of content) {
    held = held.length === 0 ? Buffer.from(bytes) : Buffer.concat([held, bytes]);
    while (held.length >= chunkBytes || (held.length > 0 && offset + held.length === size)) {
      const chunk = held.subarray(0, chunkBytes);
      yield { id, size, offset, data: chunk.toString('base64') };
      offset += chunk.length;
      held = held.subarray(chunk.length);
    }
  }
}

export type FileDumpRecord = DumpRecord<'files'>;

/**
 * Yields the bytes of a file, whose further records it takes from `records`. Throws `DumpError`
 * unless all of it is there, and has the SHA-256 of its id.
 */
export async function* fileContent(
  first: FileDumpRecord,
  records: ReturnType<typeof readDump>,
): AsyncGenerator<Uint8Array> {
  const { id, size } = first.record;
  const refuse = (line: number, what: string): never => {
    throw new DumpError(line, `the media file ${id} ${what}`);
  };
  const digest = createHash('sha256');
  let offset = 0;
  for (let one = first; ; ) {
    const { record, line } = one;
    if (record.id !== id || record.size !== size || record.offset !== offset)
      refuse(line, `is incomplete: this is not its byte ${offset}`);
    const bytes = Buffer.from(record.data, 'base64');
    offset += bytes.length;
    digest.update(bytes);
    if (offset > size) refuse(line, `has more than ${size} bytes`);
    if (offset === size && digest.digest('hex') !== id) refuse(line, 'has other bytes');
    yield bytes;
    if (offset === size) return;
    const { value, done } = await records.next();
    if (done || !('section' in value) || value.section !== 'files')
      return refuse(line + 1, `is incomplete: it has ${offset} of ${size} bytes`);
    one = value as FileDumpRecord;
  }
}
