import { statfs } from 'node:fs/promises';
import { SignageError } from '../../../domain/error.ts';

/** Network file systems by `f_type` of statfs(2). */
const networkFileSystems = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x00c36400, 'CephFS'],
  [0x0bd00bd0, 'Lustre'],
]);

/**
 * Throws `store_unusable` for a folder on a network file system. The lock of the folder is a
 * socket, which other machines do not see, so a second machine could open the folder. Detects
 * network file systems only on Linux, and does not detect those in user space, such as sshfs.
 */
export async function refuseNetworkFileSystem(directory: string): Promise<void> {
  if (process.platform !== 'linux') return;
  const name = networkFileSystems.get((await statfs(directory)).type);
  if (name === undefined) return;
  throw new SignageError(
    'store_unusable',
    `${directory} is on a network file system (${name}): a second machine could open it as well, and damage the data. Use a folder on a local disk, or PostgreSQL.`,
  );
}
