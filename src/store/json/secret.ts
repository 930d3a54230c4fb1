import type { Random } from '../../domain/clock.ts';
import type { PartContext } from './disk/parts.ts';
import { replaceContents } from './disk/replace-file.ts';
import { hexChecksum } from './log/checksum.ts';
import { damageError } from './log/damage.ts';

const fileName = 'secret';
const pattern = /^[0-9a-f]{64}\n$/;

/**
 * Reads the secret of an existing store. `expectedChecksum` comes from the manifest.
 */
export async function readSecret(
  { disk, directory }: Pick<PartContext, 'disk' | 'directory'>,
  expectedChecksum?: string,
): Promise<Uint8Array> {
  const path = `${directory}/${fileName}`;
  if ((await disk.sizeOf(path)) === undefined) throw damageError(path, 'the file is missing');
  const text = (await disk.readFile(path)).toString();
  if (!pattern.test(text)) throw damageError(path, 'it was changed or damaged');
  const secret = Buffer.from(text.trim(), 'hex');
  if (expectedChecksum !== undefined && hexChecksum(secret) !== expectedChecksum)
    throw damageError(path, 'it was changed or damaged');
  return secret;
}

/**
 * Creates the secret of a new store and syncs it before anything depends on it. Reads it if an
 * interrupted start has created it already.
 */
export async function makeSecret(
  context: Pick<PartContext, 'disk' | 'directory'>,
  random: Random,
): Promise<Uint8Array> {
  const { disk, directory } = context;
  const path = `${directory}/${fileName}`;
  if ((await disk.sizeOf(path)) !== undefined) return readSecret(context);
  const secret = random(32);
  await replaceContents(disk, path, Buffer.from(`${Buffer.from(secret).toString('hex')}\n`));
  return secret;
}
