import { dirname, join } from 'node:path';
import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { mediaFilePath } from '../../domain/media/media-keys.ts';
import type { MediaStore } from '../../media/media-store.ts';
import { type AwsSettings, isBucket, openMediaStore } from '../../media/open-media-store.ts';
import type { FileTarget } from '../dump/dump-files.ts';
import { missingFolders, removeEmpty } from './data-folder.ts';

/**
 * Returns where a restore puts media files. A folder is made for the first file. Folders and
 * buckets may have files of other stores.
 *
 * @param place a folder, or `s3://bucket/prefix?…`. `undefined`: nowhere, so a file is refused
 */
export function makeFileTarget(
  place: string | undefined,
  clock: Clock,
  aws?: AwsSettings,
): FileTarget {
  let opened: MediaStore | undefined;
  const added: string[] = [];
  /** Folders that this restore makes. */
  let made: string[] = [];

  return {
    async put(id, size, content) {
      if (place === undefined)
        throw new SignageError(
          'invalid_option',
          'The backup has the bytes of media files. Name the folder or bucket that gets them: --media.',
        );
      if (!opened) {
        if (!isBucket(place)) made = await missingFolders(join(place, 'incomplete'));
        opened = await openMediaStore(place, clock, aws);
      }
      if (!(await opened.find(id))) added.push(id);
      await opened.put(id, size, content);
    },
    open: async (id) => opened?.open(id),
    async undo() {
      for (const id of added) await opened?.delete(id);
      if (place === undefined || isBucket(place)) return;
      await removeEmpty(added.map((id) => dirname(join(place, mediaFilePath(id)))));
      await removeEmpty(made);
    },
    close: async () => opened?.close(),
  };
}
