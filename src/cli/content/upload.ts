import { type FileHandle, open } from 'node:fs/promises';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { LocalMedia } from '../examination/local-media.ts';
import type { CommandContext } from '../program/context.ts';
import { orUndefined } from '../records/find.ts';
import { hasAllBytes } from '../records/has-all-bytes.ts';
import { sizeText } from '../records/size-text.ts';
import { withProgress } from '../terminal/progress.ts';

const mebibyte = 1024 * 1024;
const smallestPart = mebibyte / 2;
const firstPart = mebibyte;
const largestPart = 8 * mebibyte;
/** A part that took less is followed by one of twice its size. */
const fastMs = 2000;
/** Over 70 kbit/s, the first part arrives in this time. */
const partTimeoutMs = 120_000;
/** The service reads and writes the whole file at least this fast when its last part arrives. */
const assembledBytesPerMs = 4000;
/** Another upload of the same file may move the offset. More moves than this are no accident. */
const maxMoves = 20;

/** Errors with status 413 that the service itself gives. Others come from a proxy. */
const isTooLargeForProxy = (error: unknown): error is SignageError =>
  error instanceof SignageError &&
  error.status === 413 &&
  !hasCode(error, 'media_too_large') &&
  !hasCode(error, 'media_quota_exceeded');

async function readPart(handle: FileHandle, file: LocalMedia, offset: number, length: number) {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset);
  if (bytesRead === length) return buffer;
  throw new SignageError('invalid_file', `${file.path} has changed while it was uploaded.`, {
    hint: 'Run the command again.',
  });
}

/**
 * Sends a file in parts until the service confirms the file, and goes on where an earlier attempt
 * has stopped. The size of the parts follows the speed of the line and the limit of a proxy.
 *
 * @param mayBeThere whether to ask first, with an empty part at the end of the file
 * @returns whether bytes were sent
 */
async function sendParts(
  call: CommandContext,
  file: LocalMedia,
  handle: FileHandle,
  { mayBeThere, show }: { mayBeThere: boolean; show(sent: number): void },
): Promise<boolean> {
  const { id, name, bytes } = file;
  let length = firstPart;
  let moves = 0;
  let hasSent = false;
  let offset = mayBeThere || bytes > firstPart ? bytes : 0;
  for (;;) {
    show(hasSent ? offset : 0);
    const part = await readPart(handle, file, offset, Math.min(length, bytes - offset));
    const isWhole = part.length === bytes;
    const query = new URLSearchParams({
      name,
      ...(!isWhole && { offset: String(offset), size: String(bytes) }),
    });
    const startedAt = call.clock.now();
    const isLast = offset + part.length === bytes;
    const timeoutMs = partTimeoutMs + (isLast ? bytes / assembledBytesPerMs : 0);
    try {
      const path = `/v1/media/${id}?${query}`;
      const reply = await call.send('PUT', path, part, { timeoutMs });
      hasSent ||= part.length > 0;
      if (reply?.status !== 202) return hasSent;
      offset = (JSON.parse(reply.text) as { received: number }).received;
      const isFast = call.clock.now() - startedAt < fastMs;
      if (isFast && length < largestPart) length *= 2;
    } catch (error) {
      if (hasCode(error, 'media_offset') && error.received !== undefined && ++moves <= maxMoves)
        offset = error.received;
      else if (isTooLargeForProxy(error) && length > smallestPart) length /= 2;
      else throw explained(error);
    }
  }
}

function explained(error: unknown): unknown {
  if (!isTooLargeForProxy(error)) return error;
  return new SignageError(error.code, 'A proxy in front of the service refuses 512 KiB at once.', {
    ...error,
    hint: 'Raise its limit for bodies, such as client_max_body_size of nginx: see docs/deployment/nginx.conf.',
  });
}

/**
 * Uploads the files that the service does not have, or not wholly, one after the other. Under
 * `--dry-run`, shows the requests. Returns the number of files that it sent.
 *
 * @param verifies whether the service reads all bytes of the files that it has, and a changed file
 *   is sent again
 */
export async function uploadMedia(
  call: CommandContext,
  files: readonly LocalMedia[],
  { verifies }: { verifies: boolean },
): Promise<number> {
  let sent = 0;
  for (const file of files) {
    const { id, path, name, bytes } = file;
    if (call.common.dryRun || !verifies) {
      const known = await orUndefined(call.read('getMedia', { params: { id } }), 'media_not_found');
      if (known && (await hasAllBytes(call, known.url))) continue;
    }
    if (call.common.dryRun) {
      await call.send('PUT', `/v1/media/${id}?${new URLSearchParams({ name })}`);
      sent++;
      continue;
    }
    const handle = await open(path);
    try {
      const hasSent = await withProgress(call, (show) =>
        sendParts(call, file, handle, {
          mayBeThere: verifies,
          show: (done) => show(`Uploading ${name}: ${sizeText(done)} of ${sizeText(bytes)}`),
        }),
      );
      if (hasSent) sent++;
    } finally {
      await handle.close();
    }
  }
  return sent;
}
