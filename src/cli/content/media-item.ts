import { nameGuid } from '../../domain/id.ts';
import { type MediaTypeRow, mediaTypes } from '../../domain/media/media-types.ts';
import { nameInMediaUrl } from '../../domain/playlists/media-url.ts';
import { shownUrl } from '../examination/finding.ts';
import type { LocalMedia } from '../examination/local-media.ts';
import { usage } from '../input/settings.ts';
import type { CommandContext } from '../program/context.ts';
import { memoize } from '../terminal/memoize.ts';

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
  const { id, name, type, bytes } = file;
  const { extension, creativeType } = mediaTypes[type];
  const seconds = creativeType === 'video' ? file.duration : stillSeconds;
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

const typeOfExtension: ReadonlyMap<string, MediaItem['creativeType']> = new Map(
  Object.values<MediaTypeRow>(mediaTypes).flatMap(({ extension, alsoNamed = [], creativeType }) =>
    [extension, ...alsoNamed].map((name) => [name, creativeType] as const),
  ),
);

/** How to make an item from a URL. */
interface UrlOptions {
  /** The duration, if it was given. */
  seconds: number | undefined;
  /** Maximum time in milliseconds for what the server says. */
  limitMs?: number | undefined;
}

/**
 * Makes an item from a URL. Its type follows from its extension, or else from what its server
 * sends, and the length of a video from the video.
 */
export async function itemOfUrl(
  call: CommandContext,
  url: string,
  { seconds, limitMs }: UrlOptions,
): Promise<MediaItem> {
  const parsed = new URL(url);
  const ask = memoize(async () => {
    const { contentOfUrl } = await import('../examination/url-content.ts');
    return contentOfUrl(call, parsed, limitMs);
  });
  const extension = /\.([a-z0-9]+)$/i.exec(parsed.pathname)?.[1]?.toLowerCase() ?? '';
  const found = typeOfExtension.get(extension) ?? (await ask())?.type;
  if (!found)
    call.note(
      `${shownUrl(parsed)} does not say here what it is, and is shown as a page. To show it as a picture or video, name its creativeType in a playlist file: signage playlist publish.`,
    );
  const creativeType = found ?? 'html';
  const own = async () => (creativeType === 'video' ? (await ask())?.duration : stillSeconds);
  const duration = seconds ?? (await own());
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
