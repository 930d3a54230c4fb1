import type { FileSystem } from './file-system.ts';

/** A disk on which files can be kept from being deleted. */
export interface DeferredDeleteDisk extends FileSystem {
  /** From here on what is deleted stays on the disk, until the returned function was called as often as this one. */
  retain(): () => Promise<void>;
}

/** Temporary files are nobody's but their writer's, who makes them again under the same name. */
const isTemporary = (path: string) => path.endsWith('.tmp');

/**
 * Puts off deletions while somebody reads. A crash in between leaves files that nothing names: the next start, or the next one who deletes, removes
 * them, as after any crash between a manifest and its tidying up.
 */
export function makeDeferredDeleteDisk(disk: FileSystem): DeferredDeleteDisk {
  const doomed = new Set<string>();
  let readers = 0;

  async function letGo(): Promise<void> {
    readers--;
    if (readers > 0) return;
    for (const path of [...doomed]) {
      doomed.delete(path);
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
      else doomed.add(path);
    },
    retain() {
      readers++;
      let released: Promise<void> | undefined;
      return () => (released ??= letGo());
    },
  };
}
