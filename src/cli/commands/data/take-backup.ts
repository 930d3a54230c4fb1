import { access, type FileHandle, rename, unlink } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createFile, namingFile, syncHandle } from '../../connection/private-file.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { sizeText } from '../../records/size-text.ts';
import { withProgress } from '../../terminal/progress.ts';

async function refuseExisting(path: string): Promise<void> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere) throw usage(`--out must name a new file, but ${path} already exists.`);
}

/** A complete backup: its file and its size. */
interface Backup {
  file: string;
  bytes: number;
}

/**
 * Writes a backup to a temporary file and renames it when complete. Deletes an incomplete file.
 * Returns `undefined` under `--dry-run`.
 */
export async function takeBackup(
  call: CommandContext,
  path: string,
  withMedia: boolean,
): Promise<Backup | undefined> {
  await refuseExisting(path);
  const partial = `${path}.partial`;
  const backup = await call.backup(withMedia ? { query: { withMedia: 'true' } } : {});
  if (!backup) return undefined;
  const file = await createFile(partial, '--out');
  try {
    const chunks = path.endsWith('.gz') ? compressed(backup) : backup;
    const bytes = await fill({ path, file }, chunks, call);
    await rename(partial, path);
    call.note(
      `The backup is complete: ${path}, ${sizeText(bytes)}. It contains the server secret: protect it like the server itself.`,
    );
    if (!withMedia)
      call.note(
        'Pictures and videos are not in it: keep a copy of the media folder, too, or use --with-media.',
      );
    return { file: path, bytes };
  } catch (error) {
    await unlink(partial).catch(() => undefined);
    throw error;
  }
}

function compressed(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const gzip = createGzip();
  // Reading `gzip` reports the error.
  pipeline(chunks, gzip).catch(() => undefined);
  return gzip;
}

async function fill(
  { path, file }: { path: string; file: FileHandle },
  backup: AsyncIterable<Buffer>,
  call: CommandContext,
): Promise<number> {
  let bytes = 0;
  try {
    await withProgress(call, async (show) => {
      for await (const chunk of backup) {
        await namingFile(path, file.writeFile(chunk));
        bytes += chunk.length;
        show(`${sizeText(bytes)} so far`);
      }
    });
    await namingFile(path, syncHandle(file));
  } finally {
    await file.close();
  }
  return bytes;
}
