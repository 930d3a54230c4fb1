import { crc32 } from 'node:zlib';
import { packTar, unpackTar } from 'modern-tar';
import {
  backupHead,
  backupTail,
  headSchema,
  tailSchema,
} from '../../../src/store/json/backup/format.ts';

interface JournalMark {
  file: string | null;
  size: number;
}

/** Returns a backup with valid checksums that lacks the end of the journal. */
export async function cutBackup(
  backup: ReadableStream<Uint8Array>,
): Promise<ReadableStream<Uint8Array>> {
  const entries = await unpackTar(backup);
  const contents = new Map(
    entries.map(({ header, data = new Uint8Array() }) => [header.name, data]),
  );
  const json = (name: string) => JSON.parse(Buffer.from(contents.get(name) ?? []).toString());
  const { file, size } = (json('manifest.json').marks.journal ?? {
    file: null,
    size: 0,
  }) as JournalMark;
  const isBeyond = (name: string) =>
    name.startsWith('journal/') && (file === null || name > `journal/${file}`);
  for (const name of contents.keys()) if (isBeyond(name)) contents.delete(name);
  const last = contents.get(`journal/${file}`);
  if (last) contents.set(`journal/${file}`, last.subarray(0, size));
  const head = headSchema.parse(json(backupHead));
  const files = head.files
    .filter(({ name }) => contents.has(name))
    .map(({ name }) => ({ name, size: contents.get(name)?.length ?? 0 }));
  const sums = tailSchema.parse({
    crc32: Object.fromEntries(
      files.map(({ name }) => [
        name,
        crc32(contents.get(name) ?? '')
          .toString(16)
          .padStart(8, '0'),
      ]),
    ),
  });
  const text = (value: object) => Buffer.from(JSON.stringify(value));
  contents.set(backupHead, text({ ...head, files })).set(backupTail, text(sums));
  const packed = await packTar(
    [...contents].map(([name, body]) => ({
      header: { name, size: body.length, type: 'file' as const, mode: 0o600 },
      body,
    })),
  );
  return new Blob([packed as Uint8Array<ArrayBuffer>]).stream() as ReadableStream<Uint8Array>;
}
