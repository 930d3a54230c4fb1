import { createHash } from 'node:crypto';
import { SignageError } from '../../domain/error.ts';
import type { MediaType } from '../../domain/media/media-types.ts';
import { headBytes } from '../../media/examination/verdict.ts';

/** Returns the type of a file by its first bytes. Throws `media_not_accepted`. */
export type JudgeHead = (head: Uint8Array, isWhole: boolean) => Promise<MediaType>;

/**
 * Passes content on, and judges its type as early as possible. Throws `media_not_accepted`.
 *
 * @param isWhole whether the content is a whole file, and not only its first part
 */
export async function* judged(
  content: AsyncIterable<Uint8Array>,
  isWhole: boolean,
  judge: JudgeHead,
  onType: (type: MediaType) => void = () => {},
): AsyncGenerator<Uint8Array> {
  let head: Uint8Array[] | undefined = [];
  let length = 0;
  for await (const chunk of content) {
    length += chunk.length;
    head?.push(chunk);
    if (head && length > headBytes) {
      onType(await judge(Buffer.concat(head).subarray(0, headBytes), false));
      head = undefined;
    }
    yield chunk;
  }
  if (head) onType(await judge(Buffer.concat(head), isWhole));
}

const mismatch = (id: string, digest: string) =>
  new SignageError(
    'digest_mismatch',
    `The SHA-256 of the bytes is ${digest}, not ${id}. The file has changed, or was damaged on the way. Send it again.`,
  );

/**
 * Passes content on, and checks that it has `size` bytes with the SHA-256 `id`. Throws
 * `digest_mismatch`.
 */
export async function* verified(
  content: AsyncIterable<Uint8Array>,
  id: string,
  size: number,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of sized(content, size)) {
    hash.update(chunk);
    yield chunk;
  }
  const digest = hash.digest('hex');
  if (digest !== id) throw mismatch(id, digest);
}

/** Passes content on, and checks that it has `size` bytes. Throws `malformed_request`. */
export async function* sized(
  content: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of content) {
    length += chunk.length;
    if (length > size) break;
    yield chunk;
  }
  if (length !== size)
    throw new SignageError(
      'malformed_request',
      `The body has not as many bytes as its Content-Length of ${size}. Send it again.`,
    );
}
