import type { ActivePlaylist, PlaylistItem } from '../../client/entities.ts';
import { playlistsOf } from '../../player/playlist-switches.ts';
import type { ExpectedMedia } from './download.ts';

/**
 * Returns the URL of an item's media file, with the size in bytes and the SHA-256 in hex that the
 * publisher may have given. Downloads are checked against the size, and against the hash where the
 * browser can compute it.
 */
export function expectedMedia({ creativeUrl, size, sha256 }: PlaylistItem): ExpectedMedia {
  return {
    url: creativeUrl,
    size: typeof size === 'number' ? size : undefined,
    sha256: typeof sha256 === 'string' ? sha256 : undefined,
  };
}

/** Returns the file with the subtitles of a video, if it has any. */
export function subtitlesOf({ creativeType, subtitles }: PlaylistItem): ExpectedMedia | undefined {
  const hasSubtitles = creativeType === 'video' && typeof subtitles === 'string';
  return hasSubtitles ? { url: subtitles, needsCopy: true } : undefined;
}

/**
 * Returns the images, videos and subtitles of a playlist and of its upcoming entries in playing
 * order, without duplicates.
 */
export function playlistFiles(playlist: ActivePlaylist | undefined): ExpectedMedia[] {
  const files = new Map<string, ExpectedMedia>();
  const items = (playlist ? playlistsOf(playlist) : []).flatMap((one) => one.items);
  for (const item of items) {
    const own = item.creativeType === 'html' ? undefined : expectedMedia(item);
    for (const file of [own, subtitlesOf(item)])
      if (file && !files.has(file.url)) files.set(file.url, file);
  }
  return [...files.values()];
}
