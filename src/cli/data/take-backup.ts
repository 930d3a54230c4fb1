import { access, type FileHandle, rename, unlink } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createFile, syncFile } from '../api/private-file.ts';
import type { CommandContext } from '../command/context.ts';
import { usage } from '../options/settings.ts';
import { withProgress } from '../terminal/progress.ts';

/** Formats a number of bytes as decimal megabytes: `12.3 MB`. */
function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

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
    const bytes = await fill(file, chunks, call);
    await rename(partial, path);
    call.note(
      `The backup is complete: ${path}, ${megabytes(bytes)}. It contains the server secret: protect it like the server itself.`,
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
  file: FileHandle,
  backup: AsyncIterable<Buffer>,
  call: CommandContext,
): Promise<number> {
  let bytes = 0;
  try {
    await withProgress(call, async (show) => {
      for await (const chunk of backup) {
        await file.writeFile(chunk);
        bytes += chunk.length;
        show(`${megabytes(bytes)} so far`);
      }
    });
    await syncFile(file);
  } finally {
    await file.close();
  }
  return bytes;
}
