import { stat } from 'node:fs/promises';
import type { SignageError } from '../../../domain/error.ts';
import { unavailable } from '../../unavailable.ts';
import type { FileSystem, OpenFile } from '../disk/file-system.ts';

/** Identifies a folder, whatever its path is. `undefined`: there is no such folder. */
async function identityOf(directory: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(directory, { bigint: true });
    return `${dev}-${ino}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Rejects all changes once another folder has the path of the data folder, because files of two
 * stores would mix. Looks before each new, renamed and deleted file, and whenever the free space is
 * checked: appends to open files go to the folder that was moved away.
 *
 * @param onReplaced called once, with the reason
 */
export async function makeGuardedDisk(
  disk: FileSystem,
  directory: string,
  onReplaced: (reason: SignageError) => void,
): Promise<FileSystem> {
  const identity = await identityOf(directory);
  let replaced: SignageError | undefined;

  function refuse(): void {
    if (replaced) throw replaced;
  }

  async function check(): Promise<void> {
    refuse();
    if ((await identityOf(directory)) === identity) return;
    refuse();
    replaced = unavailable(
      `${directory} is not the folder that the service opened: it was moved away, deleted or replaced meanwhile. Nothing is written to it. Start the service again on the folder that has the right data.`,
    );
    onReplaced(replaced);
    throw replaced;
  }

  const guarded = (file: OpenFile): OpenFile => ({
    async write(bytes, position) {
      refuse();
      return file.write(bytes, position);
    },
    read: (into, position) => file.read(into, position),
    async truncate(length) {
      refuse();
      return file.truncate(length);
    },
    datasync: () => file.datasync(),
    size: () => file.size(),
    close: () => file.close(),
  });

  return {
    async create(path) {
      await check();
      return guarded(await disk.create(path));
    },
    async open(path, how) {
      if (how === 'read') return disk.open(path, how);
      await check();
      return guarded(await disk.open(path, how));
    },
    readFile: (path) => disk.readFile(path),
    async rename(from, to) {
      await check();
      return disk.rename(from, to);
    },
    async unlink(path) {
      await check();
      return disk.unlink(path);
    },
    async makeDirectory(path) {
      await check();
      return disk.makeDirectory(path);
    },
    list: (path) => disk.list(path),
    sizeOf: (path) => disk.sizeOf(path),
    syncDirectory: (path) => disk.syncDirectory(path),
    async freeBytes(path) {
      await check();
      return disk.freeBytes(path);
    },
  };
}
