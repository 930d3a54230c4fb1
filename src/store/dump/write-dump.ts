import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { SignageError } from '../../domain/error.ts';
import {
  type DumpEnd,
  type DumpSource,
  dumpFormat,
  lineOf,
  recordJson,
  type SectionCounts,
  storeId,
} from './dump.ts';
import { type Records, type SectionName, sectionNames, shapeOf } from './records.ts';

/** Characters per chunk. The event loop is blocked for one chunk at most. */
const chunkLength = 64 * 1024;

/**
 * Yields the bytes of a dump, and returns its last line. `at` is the time of the state, as ISO
 * 8601. Throws `store_damaged` for a record that no store may hold.
 */
export async function* writeDump(source: DumpSource, at: string): AsyncGenerator<Buffer, DumpEnd> {
  const sha256 = createHash('sha256');
  const counts: SectionCounts = {};
  let text = '';
  const flush = () => {
    const bytes = Buffer.from(text);
    sha256.update(bytes);
    text = '';
    return bytes;
  };
  for (const section of sectionNames()) {
    for await (const record of source.read(section)) {
      if (section === 'server') {
        const { secret } = record as Records['server'];
        const dump = { format: dumpFormat, store: storeId(secret), at };
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

function jsonOf<S extends SectionName>(section: S, record: Records[S]): string {
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
