import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { secondMs } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import { usage } from '../input/settings.ts';
import { findWrittenPath } from '../input/written-path.ts';
import type { CommandContext } from '../program/context.ts';
import type { MediaFiles } from './media-files.ts';
import { itemOfFile, itemOfUrl, type MediaItem } from './media-item.ts';

export const isUrl = (word: string) => /^https?:\/\//i.test(word);

/** Returns what a word names on this computer, and its path. */
export async function pathOf(word: string) {
  try {
    const path = await findWrittenPath(word);
    return { path, kind: (await stat(path)).isDirectory() ? 'folder' : 'file' };
  } catch {
    return { path: word, kind: 'missing' };
  }
}

/** Returns the files of a folder in the order of their names, without hidden ones. */
async function filesIn(folder: string): Promise<string[]> {
  const { compare } = new Intl.Collator('en', { numeric: true });
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((one) => one.isFile() && !one.name.startsWith('.'));
  const paths = names
    .map(({ name }) => name)
    .sort(compare)
    .map((name) => join(folder, name));
  if (paths.length === 0) throw usage(`The folder ${folder} has no files.`);
  return paths;
}

async function makeItem(
  call: CommandContext,
  word: string,
  files: MediaFiles,
  options: Parameters<typeof itemOfUrl>[2],
): Promise<MediaItem> {
  if (isUrl(word)) return itemOfUrl(call, word, options);
  const item = itemOfFile(await files.read(word));
  const duration = options.seconds ?? item.duration;
  if (duration === undefined)
    throw usage(`The video ${word} does not say its length: give --duration.`);
  return { ...item, duration };
}

/**
 * Makes the items of files, folders and URLs.
 *
 * @param untilMs when to stop asking the servers of URLs. Default: after some time for each.
 */
export async function makeItems(
  call: CommandContext,
  words: readonly string[],
  files: MediaFiles,
  untilMs?: number,
) {
  const { duration } = call.options;
  const seconds = duration === undefined ? undefined : duration / secondMs;
  const items: MediaItem[] = [];
  for (const word of words) {
    const { kind, path } = isUrl(word) ? { kind: 'URL', path: word } : await pathOf(word);
    const isFolder = kind === 'folder';
    for (const one of isFolder ? await filesIn(path) : [path]) {
      try {
        const limitMs = untilMs && Math.max(0, untilMs - call.clock.now());
        items.push(await makeItem(call, one, files, { seconds, limitMs }));
      } catch (error) {
        // A folder may hold other files, too.
        if (!isFolder || !hasCode(error, 'media_not_accepted')) throw error;
        call.note(`Left out: ${error.message}`);
      }
    }
  }
  if (items.length === 0) throw usage('There is no picture, video or page to show.');
  return items;
}
