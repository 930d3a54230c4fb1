import { rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SignageError } from '../../domain/error.ts';
import { mediaPath } from '../../domain/media/media-path.ts';
import { openFolderMediaStore } from '../../media/folder-media-store.ts';
import type { MediaStore } from '../../media/media-store.ts';
import type { FileTarget } from '../dump/dump-files.ts';

/**
 * Returns where a restore puts media files. The folder is made for the first file, and may have
 * files of other stores.
 *
 * @param folder `undefined`: nowhere, so a file is refused
 */
export function makeFileTarget(folder: string | undefined, now: () => number): FileTarget {
  let opened: MediaStore | undefined;
  const added: string[] = [];

  return {
    async put(id, size, content) {
      if (folder === undefined)
        throw new SignageError(
          'invalid_option',
          'The backup has the bytes of media files. Name the folder that gets them: --media.',
        );
      opened ??= await openFolderMediaStore(folder, { isShared: true, now });
      if (!(await opened.find(id))) added.push(id);
      await opened.put(id, size, content);
    },
    open: async (id) => opened?.open(id),
    async undo() {
      if (!opened || folder === undefined) return;
      for (const id of added) await opened.delete(id);
      const folders = added.map((id) => dirname(join(folder, mediaPath(id))));
      // Only those that are empty go.
      for (const path of [...folders, join(folder, 'incomplete'), folder])
        await rmdir(path).catch(() => undefined);
    },
  };
}
