import { SignageError } from '../../../domain/error.ts';
import type { DumpSource } from '../../dump/dump.ts';
import { readManifest } from '../checkpoint/manifest.ts';
import type { PartContext } from '../disk/parts.ts';
import { recoverParts } from '../open.ts';
import { readSecret } from '../secret.ts';
import { stateSource } from '../state-source.ts';

export function noData(directory: string): SignageError {
  return new SignageError('store_unusable', `${directory} holds no data. Choose a data folder.`);
}

/**
 * Reads the state of a data folder as a start would, and changes nothing on disk. Throws
 * `store_damaged` and `store_unusable`.
 */
export async function readFolder(context: PartContext): Promise<DumpSource> {
  const { data: manifest } = await readManifest(context.disk, context.directory);
  if (manifest.epoch === 0) throw noData(context.directory);
  const secret = await readSecret(context, manifest.secret);
  return stateSource(await recoverParts(context, manifest, secret), secret);
}
