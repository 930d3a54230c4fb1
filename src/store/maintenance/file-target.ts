import { dirname, join } from 'node:path';
import { SignageError } from '../../domain/error.ts';
import { mediaPath } from '../../domain/media/media-path.ts';
import { openFolderMediaStore } from '../../media/folder-media-store.ts';
import type { MediaStore } from '../../media/media-store.ts';
import type { FileTarget } from '../dump/dump-files.ts';
import { missingFolders, removeEmpty } from './data-folder.ts';

/**
 * Returns where a restore puts media files. The folder is made for the first file, and may have
 * files of other stores.
 *
 * @param folder `undefined`: nowhere, so a file is refused
 */
export function makeFileTarget(folder: string | undefined, now: () => number): FileTarget {
  let opened: MediaStore | undefined;
  const added: string[] = [];
  /** Folders that this restore makes. */
  let made: string[] = [];

  return {
    async put(id, size, content) {
      if (folder === undefined)
        throw new SignageError(
          'invalid_option',
          'The backup has the bytes of media files. Name the folder that gets them: --media.',
        );
      if (!opened) {
        made = await missingFolders(join(folder, 'incomplete'));
        opened = await openFolderMediaStore(folder, { isShared: true, now });
      }
      if (!(await opened.find(id))) added.push(id);
      await opened.put(id, size, content);
    },
    open: async (id) => opened?.open(id),
    async undo() {
      if (folder === undefined) return;
      for (const id of added) await opened?.delete(id);
      await removeEmpty(added.map((id) => dirname(join(folder, mediaPath(id)))));
      await removeEmpty(made);
    },
  };
}
