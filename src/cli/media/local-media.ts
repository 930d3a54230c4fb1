import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { hasCode, SignageError } from '../../domain/error.ts';
import { type MediaType, mediaTypes } from '../../domain/media/media-types.ts';
import { headBytes, maxHeadBytes, mediaTypeOf } from '../../media/media-type.ts';
import { fileProblem } from '../options/file-error.ts';
import { requireRegular } from '../options/read-file.ts';
import { readVideo, type Video } from './video.ts';

/** A file of this computer that the service can keep and serve as media. */
export interface LocalMedia {
  path: string;
  /** Its name without its folder. */
  name: string;
  /** SHA-256 of its bytes, in hex: its id on the service. */
  id: string;
  type: MediaType;
  bytes: number;
  /** Set for videos. */
  video: Video | undefined;
}

/** Reads a file once: its digest, its size, and its first bytes. */
async function readOnce(path: string) {
  const handle = await open(path);
  try {
    requireRegular(await handle.stat());
    const hash = createHash('sha256');
    const head: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of handle.createReadStream({ autoClose: false })) {
      hash.update(chunk);
      if (bytes < maxHeadBytes) head.push(chunk as Buffer);
      bytes += chunk.length;
    }
    return { id: hash.digest('hex'), bytes, head: Buffer.concat(head).subarray(0, maxHeadBytes) };
  } finally {
    await handle.close();
  }
}

/**
 * Reads what a playlist has to know about a media file. Throws `invalid_file` for a file that
 * cannot be read, and `media_not_accepted` for one that TVs do not show, with the way to convert
 * it.
 */
export async function readLocalMedia(path: string): Promise<LocalMedia> {
  try {
    const { id, bytes, head } = await readOnce(path);
    const type =
      (await mediaTypeOf(head.subarray(0, headBytes), bytes <= headBytes)) ??
      (await mediaTypeOf(head, bytes <= maxHeadBytes));
    const isVideo = mediaTypes[type as MediaType].creativeType === 'video';
    const video = isVideo ? await readVideo({ path }) : undefined;
    return { path, name: basename(path), id, type: type as MediaType, bytes, video };
  } catch (error) {
    if (hasCode(error, 'media_not_accepted'))
      throw new SignageError('media_not_accepted', `${path}: ${error.message}`);
    throw new SignageError('invalid_file', `${fileProblem(error, path)}.`, { cause: error });
  }
}
