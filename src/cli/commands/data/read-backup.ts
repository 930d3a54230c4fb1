import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { SignageError } from '../../../domain/error.ts';
import { fileProblem } from '../../input/file-error.ts';

const gzipMagic = Buffer.of(0x1f, 0x8b);

/** Yields a backup, decompressed if it is a gzip file. Fails as soon as the signal aborts. */
export async function* readBackup(signal: AbortSignal, path: string): AsyncGenerator<Uint8Array> {
  const chunks = readUntil(signal, path);
  const first = await chunks.next();
  if (first.done) return;
  const all = prepended(first.value, chunks);
  if (!gzipMagic.equals(first.value.subarray(0, 2))) return yield* all;
  const gunzip = createGunzip();
  // Reading `gunzip` reports the error.
  pipeline(all, gunzip).catch(() => undefined);
  try {
    yield* gunzip;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith('Z_')) throw error;
    throw unusable(path, `the gzip file is damaged or cut short (${message})`, error);
  }
}

function unusable(path: string, problem: string, cause: unknown): SignageError {
  const message = `${path} cannot be used as a backup: ${problem}. Nothing was restored.`;
  return new SignageError('backup_unusable', message, { cause });
}

async function* prepended<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}

/**
 * Resolves as `work`, or rejects when the signal aborts. `Promise.race` with one promise for all
 * chunks would keep them all in memory.
 */
function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('it was interrupted'));
    signal.addEventListener('abort', stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Yields the file in chunks. Fails as soon as the signal aborts, even while a pipe has no data. */
async function* readUntil(signal: AbortSignal, path: string): AsyncGenerator<Buffer> {
  const stream = createReadStream(path, { highWaterMark: 1 << 18 });
  const chunks = stream.iterator({ destroyOnReturn: false });
  const explain = (error: unknown) => {
    throw unusable(path, `it cannot be read: ${fileProblem(error, path)}`, error);
  };
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await unlessAborted(signal, chunks.next().catch(explain));
      if (done) return;
      yield value;
    }
  } finally {
    stream.destroy();
  }
}
