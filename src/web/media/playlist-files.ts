import type { ActivePlaylist, PlaylistItem } from '../../client/entities.ts';
import type { ExpectedMedia } from './download.ts';

/**
 * Returns the file of an item. Publishers may add its `size` in bytes and its `sha256` in hex. The
 * player then checks them.
 */
export function expectedMedia({ creativeUrl, size, sha256 }: PlaylistItem): ExpectedMedia {
  return {
    url: creativeUrl,
    size: typeof size === 'number' ? size : undefined,
    sha256: typeof sha256 === 'string' ? sha256 : undefined,
  };
}

/** Returns the images and videos of a playlist, each once, in the order of their need. */
export function filesOf(playlist: ActivePlaylist | undefined): ExpectedMedia[] {
  const files = new Map<string, ExpectedMedia>();
  for (const item of playlist?.items ?? [])
    if (item.creativeType !== 'html' && !files.has(item.creativeUrl))
      files.set(item.creativeUrl, expectedMedia(item));
  return [...files.values()];
}
