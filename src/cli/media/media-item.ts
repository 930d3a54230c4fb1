import { createHash } from 'node:crypto';
import { mediaTypes } from '../../domain/media/media-types.ts';
import { nameInMediaUrl } from '../../domain/records/media-url.ts';
import { usage } from '../options/settings.ts';
import type { LocalMedia } from './local-media.ts';
import { readVideo } from './video.ts';

/** A playlist item that the command line makes. */
export type MediaItem = {
  creativeId: string;
  creativeUrl: string;
  creativeType: 'image' | 'video' | 'html';
  duration: number;
  name?: string;
  size?: number;
  sha256?: string;
};

/** Namespace of ids that follow from the content of a file, or from a URL. */
const namespace = Buffer.from('fc31728950d643328d32bed8b09a4487', 'hex');

/** Returns the UUIDv5 of a name (RFC 9562, section 5.5): the same picture is the same creative. */
function creativeIdOf(name: string): string {
  const bytes = createHash('sha1').update(namespace).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Seconds for which images and pages stay, if nothing else is said. */
const stillSeconds = 10;

const roundUp = (seconds: number) => Math.ceil(seconds * 1000) / 1000;

/**
 * Makes the members of an item from a file. `duration` is `undefined` if the file has no length.
 */
export function itemOfFile(file: LocalMedia): Omit<MediaItem, 'duration'> & { duration?: number } {
  const { id, name, type, bytes, video } = file;
  const { extension, creativeType } = mediaTypes[type];
  const seconds = creativeType === 'video' ? video?.duration : stillSeconds;
  return {
    name: name.slice(0, 200),
    creativeId: creativeIdOf(id),
    creativeUrl: `/media/${id}.${extension}`,
    creativeType,
    ...(seconds !== undefined && { duration: roundUp(seconds) }),
    size: bytes,
    sha256: id,
  };
}

const typeOfExtension: Readonly<Record<string, MediaItem['creativeType']>> = {
  ...Object.fromEntries(
    ['png', 'jpg', 'jpeg', 'webp', 'gif', 'avif', 'svg'].map((one) => [one, 'image' as const]),
  ),
  mp4: 'video',
  webm: 'video',
  m4v: 'video',
};

/**
 * Makes an item from a URL. Its type follows from the extension; other URLs are pages. The length
 * of a video is read from it.
 *
 * @param seconds the duration, if it was given
 */
export async function itemOfUrl(url: string, seconds: number | undefined): Promise<MediaItem> {
  const parsed = new URL(url);
  const extension = /\.([a-z0-9]+)$/i.exec(parsed.pathname)?.[1]?.toLowerCase() ?? '';
  const creativeType = typeOfExtension[extension] ?? 'html';
  const own = creativeType === 'video' ? (await readVideo({ url })).duration : stillSeconds;
  const duration = seconds ?? own;
  if (duration === undefined)
    throw usage(`The length of the video ${url} cannot be read: give --duration.`);
  return {
    name: nameInMediaUrl(parsed).slice(0, 200),
    creativeId: creativeIdOf(url),
    creativeUrl: url,
    creativeType,
    duration: roundUp(duration),
  };
}
