import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { SignageError } from '../../domain/error.ts';
import type { MediaReader } from '../store.ts';
import {
  type DumpEnd,
  type DumpSource,
  dumpFormat,
  lineOf,
  recordJson,
  type SectionCounts,
  storeId,
} from './dump.ts';
import { fileRecords } from './dump-files.ts';
import {
  type DumpRecords,
  type DumpSection,
  type Records,
  sectionNames,
  shapeOf,
} from './records.ts';

/** Characters per chunk. The event loop is blocked for one chunk at most. */
const chunkLength = 64 * 1024;

/**
 * Yields the bytes of a dump, and returns its last line. `at` is the time of the state, as ISO
 * 8601. Throws `store_damaged` for a record that no store may hold.
 *
 * @param files where the media of the store lie. `undefined`: the dump gets no bytes of media
 * @param format of a dump with which this one is compared
 */
export async function* writeDump(
  source: DumpSource,
  at: string,
  files?: MediaReader,
  format: number = dumpFormat,
): AsyncGenerator<Buffer, DumpEnd> {
  const sha256 = createHash('sha256');
  const counts: SectionCounts = {};
  let text = '';
  const flush = () => {
    const bytes = Buffer.from(text);
    sha256.update(bytes);
    text = '';
    return bytes;
  };
  const fileIds = new Set<string>();
  async function* readFiles(reader: MediaReader) {
    for (const id of [...fileIds].sort()) yield* fileRecords(reader, id);
  }
  for (const section of files ? [...sectionNames(), 'files' as const] : sectionNames()) {
    const records = section === 'files' ? readFiles(files as MediaReader) : source.read(section);
    for await (const record of records) {
      if (section === 'media') fileIds.add((record as Records['media']).fileId);
      if (section === 'server') {
        const { secret } = record as Records['server'];
        const dump = { format, store: storeId(secret), at };
        text += lineOf(JSON.stringify({ dump }));
      }
      text += lineOf(jsonOf(section, record));
      counts[section] = (counts[section] ?? 0) + 1;
      if (text.length < chunkLength) continue;
      yield flush();
      await setImmediate();
    }
  }
  yield flush();
  const end = { counts, sha256: sha256.digest('hex') };
  yield Buffer.from(lineOf(JSON.stringify({ end })));
  return end;
}

function jsonOf<S extends DumpSection>(section: S, record: DumpRecords[S]): string {
  const parsed = shapeOf(section).schema.safeParse(record);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const { id, deviceId, seq } = record as { id?: string; deviceId?: string; seq?: number };
    throw new SignageError(
      'store_damaged',
      `The store has a damaged record in ${section} (${id ?? deviceId ?? seq ?? ''}): ${issue?.path.join('.')}: ${issue?.message}.`,
    );
  }
  return recordJson(section, parsed.data);
}
