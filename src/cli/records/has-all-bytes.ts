import { hasCode } from '../../domain/error.ts';
import type { CommandClient } from '../connection/client.ts';

/** Returns whether the service has a file and its last byte, which a file that was cut lacks. */
export async function hasAllBytes(
  call: Pick<CommandClient, 'send'>,
  url: string,
): Promise<boolean> {
  try {
    await call.send('GET', url, undefined, { headers: { range: 'bytes=-1' } });
    return true;
  } catch (error) {
    if (!hasCode(error, 'not_found')) throw error;
    return false;
  }
}
