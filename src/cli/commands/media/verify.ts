import { createHash } from 'node:crypto';
import type { Media } from '../../../client/entities.ts';
import { hasCode, SignageError } from '../../../domain/error.ts';
import type { CommandClient } from '../../connection/client.ts';

const damaged = (message: string) =>
  new SignageError('invalid_file', message, { hint: 'To put it back: signage media add FILE' });

/** Returns `intact`, or throws `invalid_file` for a file whose bytes are missing or changed. */
export async function verifyMedia(call: CommandClient, file: Media): Promise<'intact'> {
  const digest = createHash('sha256');
  try {
    const reply = await call.send('GET', file.url, undefined, { streamed: true });
    for await (const chunk of reply?.stream ?? []) digest.update(chunk);
  } catch (error) {
    if (hasCode(error, 'not_found'))
      throw damaged('The media store has not all bytes of this file.');
    throw error;
  }
  if (digest.digest('hex') === file.id) return 'intact';
  throw damaged('The bytes of this file have changed in the media store.');
}
