import { createHash } from 'node:crypto';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { ApiClient } from '../api/client.ts';
import type { Media } from '../records/views/media-view.ts';

const damaged = (message: string, how: string) =>
  new SignageError('invalid_file', message, { hint: `To put it back: ${how}` });

/** Returns `intact`, or throws `invalid_file` for a file whose bytes are missing or changed. */
export async function verifyMedia(call: ApiClient, file: Media): Promise<'intact'> {
  const digest = createHash('sha256');
  try {
    const reply = await call.send('GET', file.url, undefined, { streamed: true });
    for await (const chunk of reply?.stream ?? []) digest.update(chunk);
  } catch (error) {
    if (hasCode(error, 'not_found'))
      throw damaged('The media store has not all bytes of this file.', 'signage media add FILE');
    throw error;
  }
  if (digest.digest('hex') === file.id) return 'intact';
  throw damaged(
    'The bytes of this file have changed in the media store.',
    `signage media delete ${file.id} --force, then signage media add FILE`,
  );
}
