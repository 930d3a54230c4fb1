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

/**
 * Returns the images and videos of a playlist and of its upcoming entries in playing order, without
 * duplicates.
 */
export function playlistFiles(playlist: ActivePlaylist | undefined): ExpectedMedia[] {
  const files = new Map<string, ExpectedMedia>();
  const items = (playlist ? playlistsOf(playlist) : []).flatMap((one) => one.items);
  for (const item of items)
    if (item.creativeType !== 'html' && !files.has(item.creativeUrl))
      files.set(item.creativeUrl, expectedMedia(item));
  return [...files.values()];
}
