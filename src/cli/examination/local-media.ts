import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { interrupted } from '../../client/pause.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { MediaType } from '../../domain/media/media-types.ts';
import { acceptedType } from '../../media/examination/examiner.ts';
import { headBytes, type Verdict } from '../../media/examination/verdict.ts';
import { fileProblem } from '../input/file-error.ts';
import { requireRegular } from '../input/read-file.ts';
import { findWrittenPath } from '../input/written-path.ts';
import type { CommandContext } from '../program/context.ts';
import { withFileNames } from './finding.ts';

/** A file of this computer that the service can keep and serve as media. */
export interface LocalMedia extends Pick<Verdict, 'duration' | 'findings'> {
  path: string;
  /** Its name without its folder. */
  name: string;
  /** SHA-256 of its bytes, in hex: its id on the service. */
  id: string;
  type: MediaType;
  bytes: number;
}

/** What reading a media file needs of a command. */
export type MediaReading = Pick<CommandContext, 'examine' | 'interrupted'>;

/** Reads an open file once: its digest and its size. */
async function digestOf(handle: FileHandle, signal: AbortSignal) {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of handle.createReadStream({ autoClose: false, start: 0 })) {
    if (signal.aborted) throw interrupted(signal);
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { id: hash.digest('hex'), bytes };
}

async function readPart(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead);
}

async function readFrom(handle: FileHandle, path: string, call: MediaReading): Promise<LocalMedia> {
  requireRegular(await handle.stat());
  const { id, bytes } = await digestOf(handle, call.interrupted);
  const read = (start: number, end: number) => readPart(handle, start, end);
  const verdict = await call.examine({
    head: await read(0, Math.min(bytes, headBytes)),
    isWhole: bytes <= headBytes,
    source: { size: bytes, read },
  });
  const { duration, findings } = verdict;
  const name = basename(path).normalize('NFC');
  return { path, name, id, type: acceptedType(verdict), bytes, duration, findings };
}

/**
 * Examines a media file, and reads what a playlist has to know about it. Throws `invalid_file` for
 * a file that cannot be read, `media_not_accepted` for one of a type that the service does not
 * keep, with the way to convert it, and `interrupted`.
 */
export async function readLocalMedia(call: MediaReading, given: string): Promise<LocalMedia> {
  let handle: FileHandle | undefined;
  let path = given;
  try {
    path = await findWrittenPath(given);
    handle = await open(path);
    return await readFrom(handle, path, call);
  } catch (error) {
    if (hasCode(error, 'interrupted') || hasCode(error, 'unavailable')) throw error;
    if (hasCode(error, 'media_not_accepted'))
      throw new SignageError(
        'media_not_accepted',
        `${path}: ${withFileNames(error.message, path)}`,
      );
    throw new SignageError('invalid_file', `${fileProblem(error, path)}.`, { cause: error });
  } finally {
    await handle?.close();
  }
}
