import { setTimeout as sleep } from 'node:timers/promises';
import type { FileSystem, OpenFile } from '../../src/store/json/disk/file-system.ts';

export interface HeldDisk extends FileSystem {
  /** How long each `fdatasync` is held back. */
  holdMs: number;
  /** Whether each `fdatasync` fails, once it was held back. */
  failing: boolean;
}

/** A disk whose `fdatasync` can be held back, or made to fail. */
export function heldDisk(disk: FileSystem): HeldDisk {
  const held = (file: OpenFile): OpenFile => ({
    write: (bytes, position) => file.write(bytes, position),
    read: (into, position) => file.read(into, position),
    truncate: (length) => file.truncate(length),
    async datasync() {
      await sleep(self.holdMs);
      if (self.failing) throw Object.assign(new Error('EIO: planted'), { code: 'EIO' });
      await file.datasync();
    },
    size: () => file.size(),
    close: () => file.close(),
  });
  const self: HeldDisk = {
    ...disk,
    holdMs: 0,
    failing: false,
    create: async (path) => held(await disk.create(path)),
    open: async (path, how) => held(await disk.open(path, how)),
  };
  return self;
}
