import type { FileSystem } from './file-system.ts';

/** A file system that can postpone deletions. */
export interface DeferredDeleteDisk extends FileSystem {
  /**
   * Postpones deletions until the returned function is called. After several calls, the last
   * release deletes the files.
   */
  retain(): () => Promise<void>;
}

/**
 * Temporary files are deleted at once, because their writer may create them again under the same
 * name.
 */
const isTemporary = (path: string) => path.endsWith('.tmp');

/**
 * Postpones deletions while a reader, such as a backup, needs the files. After a crash, files that
 * nothing references may remain. The next start or the next purge deletes them.
 */
export function makeDeferredDeleteDisk(disk: FileSystem): DeferredDeleteDisk {
  const pendingDeletes = new Set<string>();
  let readers = 0;

  async function release(): Promise<void> {
    readers--;
    if (readers > 0) return;
    for (const path of [...pendingDeletes]) {
      pendingDeletes.delete(path);
      await disk.unlink(path);
    }
  }

  return {
    create: (path) => disk.create(path),
    open: (path, how) => disk.open(path, how),
    readFile: (path) => disk.readFile(path),
    rename: (from, to) => disk.rename(from, to),
    makeDirectory: (path) => disk.makeDirectory(path),
    list: (path) => disk.list(path),
    sizeOf: (path) => disk.sizeOf(path),
    syncDirectory: (path) => disk.syncDirectory(path),
    freeBytes: (path) => disk.freeBytes(path),
    async unlink(path) {
      if (readers === 0 || isTemporary(path)) await disk.unlink(path);
      else pendingDeletes.add(path);
    },
    retain() {
      readers++;
      let released: Promise<void> | undefined;
      return () => (released ??= release());
    },
  };
}
