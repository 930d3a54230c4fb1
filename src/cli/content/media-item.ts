import { nameGuid } from '../../domain/id.ts';
import { mediaTypes } from '../../domain/media/media-types.ts';
import { nameInMediaUrl } from '../../domain/playlists/media-url.ts';
import { shownUrl } from '../examination/finding.ts';
import { usage } from '../input/settings.ts';
import type { CommandContext } from '../program/context.ts';
import type { LocalMedia } from './local-media.ts';

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

/** The same picture is the same creative. */
const creativeIdOf = (name: string) => nameGuid(namespace, name);

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
  html: 'html',
  htm: 'html',
};

/** Returns the type of a URL by its extension, or else by what its server sends. */
async function typeOf(call: CommandContext, url: URL): Promise<MediaItem['creativeType']> {
  const extension = /\.([a-z0-9]+)$/i.exec(url.pathname)?.[1]?.toLowerCase() ?? '';
  const known = typeOfExtension[extension];
  if (known) return known;
  const { typeOfUrl } = await import('../examination/url-content.ts');
  const found = await typeOfUrl(call, url);
  if (!found)
    call.note(
      `${shownUrl(url)} does not say here what it is, and is shown as a page. To show it as a picture or video, name its creativeType in a playlist file: signage playlist publish.`,
    );
  return found ?? 'html';
}

async function ownDuration(
  call: CommandContext,
  url: URL,
  type: MediaItem['creativeType'],
): Promise<number | undefined> {
  if (type !== 'video') return stillSeconds;
  const { videoOfUrl } = await import('../examination/url-content.ts');
  return (await videoOfUrl(call, url))?.duration;
}

/**
 * Makes an item from a URL. The length of a video is read from it.
 *
 * @param seconds the duration, if it was given
 */
export async function itemOfUrl(
  call: CommandContext,
  url: string,
  seconds: number | undefined,
): Promise<MediaItem> {
  const parsed = new URL(url);
  const creativeType = await typeOf(call, parsed);
  const duration = seconds ?? (await ownDuration(call, parsed, creativeType));
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
