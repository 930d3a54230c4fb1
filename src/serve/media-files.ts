import { join } from 'node:path';
import type { Clock } from '../domain/clock.ts';
import { mediaFolder } from '../domain/media/media-path.ts';
import { openFolderMediaStore } from '../media/folder-media-store.ts';
import type { MediaStore } from '../media/media-store.ts';
import { makeTemporaryMediaStore, openMediaStore } from '../media/open-media-store.ts';
import type { ServeOptions } from './serve-options.ts';

/** A media store, and the function that closes it if `serve` opened it. */
export interface OpenMedia {
  files: MediaStore | undefined;
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
  if (typeof media === 'object') return { files: media, close: async () => {} };
  const files = await openFiles(media, options, folder, clock);
  return { files, close: async () => files?.close() };
}

async function openFiles(
  media: string | undefined,
  { store, aws }: Pick<ServeOptions, 'store' | 'aws'>,
  folder: string | undefined,
  clock: Clock,
): Promise<MediaStore | undefined> {
  const now = () => clock.now();
  if (media === 'none') return undefined;
  if (media !== undefined) return openMediaStore(media, clock, aws);
  if (folder !== undefined)
    return openFolderMediaStore(join(folder, mediaFolder), { isShared: false, now });
  return store === 'memory:' ? makeTemporaryMediaStore(now) : undefined;
}
