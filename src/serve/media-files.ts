import { join } from 'node:path';
import { type Clock, secondMs } from '../domain/clock.ts';
import { mediaFolder } from '../domain/media/media-keys.ts';
import { Examiner } from '../media/examination/examiner.ts';
import { openFolderMediaStore } from '../media/folder-media-store.ts';
import type { MediaStore } from '../media/media-store.ts';
import { makeTemporaryMediaStore, openMediaStore } from '../media/open-media-store.ts';
import type { ServeOptions } from './serve-options.ts';

/**
 * Uploads that may wait for the verdict on their first 64 KiB. Longer than a few files that take
 * all of their time, an upload asks again instead.
 */
const examinerLimits = { waitingOfGroup: 64, waiting: 1024, waitMs: 10 * secondMs };

/** A media store, what examines its files, and the function that closes what `serve` opened. */
export interface OpenMedia {
  files: MediaStore | undefined;
  examiner: Examiner;
  close(): Promise<void>;
}

/**
 * Opens the place of the media files. Without the option `media`, it is a folder in the data
 * folder, or a temporary one for a store in memory. Other stores then have no media.
 *
 * @param folder the data folder. `undefined`: the store is not a folder
 */
export async function openMedia(
  options: Pick<ServeOptions, 'media' | 'store' | 'aws'>,
  folder: string | undefined,
  clock: Clock,
): Promise<OpenMedia> {
  const { media } = options;
  const examiner = new Examiner(examinerLimits);
  if (typeof media === 'object') return { files: media, examiner, close: () => examiner.close() };
  const files = await openFiles(media, options, folder, clock);
  const close = async () => {
    await examiner.close();
    await files?.close();
  };
  return { files, examiner, close };
}

async function openFiles(
  media: string | undefined,
  { store, aws }: Pick<ServeOptions, 'store' | 'aws'>,
  folder: string | undefined,
  clock: Clock,
): Promise<MediaStore | undefined> {
  if (media === 'none') return undefined;
  if (media !== undefined) return openMediaStore(media, clock, aws);
  if (folder !== undefined)
    return openFolderMediaStore(join(folder, mediaFolder), { isShared: false });
  return store === 'memory:' ? makeTemporaryMediaStore() : undefined;
}
