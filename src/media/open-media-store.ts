import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { type AwsSettings, readBucket } from '../origin/object-store/open-object-store.ts';
import { openFolderMediaStore } from './folder-media-store.ts';
import type { MediaStore } from './media-store.ts';

export type { AwsSettings };

export const isBucket = (location: string): boolean => location.startsWith('s3:');

/**
 * Opens the media store at `location`: a folder that other instances may use, too, or
 * `s3://bucket/prefix?…`, to which it sends no request. Throws `invalid_option`.
 */
export async function openMediaStore(
  location: string,
  clock: Clock,
  aws: AwsSettings = {},
): Promise<MediaStore> {
  if (!isBucket(location)) {
    if (/^[a-z][a-z0-9+]+:/i.test(location))
      throw new SignageError('invalid_option', 'media must be a folder, s3://bucket, or none.');
    return openFolderMediaStore(location, { isShared: true });
  }
  const { location: bucket, credentials } = readBucket(location, aws);
  // Imported on demand, because the modules for signing and undici are slow to load.
  const { makeS3MediaStore } = await import('./s3-media-store.ts');
  return makeS3MediaStore(bucket, credentials, clock);
}

/**
 * Returns a media store in a temporary folder, for a store in memory. The folder is made at the
 * first upload and deleted by `close`.
 */
export function makeTemporaryMediaStore(): MediaStore {
  let opened: Promise<{ folder: string; files: MediaStore }> | undefined;

  async function make() {
    try {
      const folder = await mkdtemp(join(tmpdir(), 'signage-media-'));
      return { folder, files: await openFolderMediaStore(folder, { isShared: false }) };
    } catch (cause) {
      opened = undefined;
      throw new SignageError('unavailable', 'The temporary folder for media cannot be made.', {
        cause,
        retryAfterSeconds: 30,
      });
    }
  }

  return {
    async put(key, size, content) {
      opened ??= make();
      await (await opened).files.put(key, size, content);
    },
    open: async (key, range) => (await opened)?.files.open(key, range),
    find: async (key) => (await opened)?.files.find(key),
    delete: async (key) => (await opened)?.files.delete(key),
    async *list(prefix, signal) {
      const known = await opened;
      if (known) yield* known.files.list(prefix, signal);
    },
    async *folders(folder, signal) {
      const known = await opened;
      if (known) yield* known.files.folders(folder, signal);
    },
    sweep: async () => (await opened)?.files.sweep(),
    async close() {
      const known = await opened;
      if (known) await rm(known.folder, { recursive: true, force: true });
    },
  };
}
