import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { secondMs } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import type { Publication } from '../../domain/playlists/playlist.ts';
import { preconditionOf } from '../api/conditional.ts';
import type { CommandContext } from '../command/context.ts';
import { hasFilter, type Selection, selectScreens } from '../options/select-screens.ts';
import { usage } from '../options/settings.ts';
import { readValidUntil } from '../options/time.ts';
import { publishOn } from '../playlist/run-publish.ts';
import { orUndefined } from '../records/find.ts';
import { countText, shellQuote } from '../records/text.ts';
import { itemView } from '../records/views/playlist-views.ts';
import { MediaFiles } from './media-files.ts';
import { itemOfFile, itemOfUrl, type MediaItem } from './media-item.ts';

/** How long `show` waits for the TVs at a terminal. */
const defaultWaitMs = 60 * secondMs;

const isUrl = (word: string) => /^https?:\/\//i.test(word);

const kindOf = async (path: string) => {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isDirectory() ? 'folder' : stats ? 'file' : 'missing';
};

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
  seconds: number | undefined,
): Promise<MediaItem> {
  if (isUrl(word)) return itemOfUrl(call, word, seconds);
  const item = itemOfFile(await files.read(word));
  const duration = seconds ?? item.duration;
  if (duration === undefined)
    throw usage(`The video ${word} does not say its length: give --duration.`);
  return { ...item, duration };
}

/** Makes the items of files, folders and URLs. */
export async function makeItems(call: CommandContext, words: readonly string[], files: MediaFiles) {
  const { duration } = call.options;
  const seconds = duration === undefined ? undefined : duration / secondMs;
  const items: MediaItem[] = [];
  for (const word of words) {
    const isFolder = !isUrl(word) && (await kindOf(word)) === 'folder';
    for (const one of isFolder ? await filesIn(word) : [word]) {
      try {
        items.push(await makeItem(call, one, files, seconds));
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

/** Returns the screens. A first word that is a file instead of a screen gets a hint. */
async function selectionOf(call: CommandContext, name: string | undefined): Promise<Selection> {
  try {
    return await selectScreens(call, name === undefined ? [] : [name]);
  } catch (error) {
    if (!hasCode(error, 'screen_not_found') || name === undefined) throw error;
    if (!isUrl(name) && (await kindOf(name)) === 'missing') throw error;
    throw usage(
      `Name the screen before its files: "${name}" is no screen.`,
      `signage show VENUE/SCREEN ${shellQuote(name)}. To see all screens: signage screen list`,
    );
  }
}

/** Prints what a screen shows now. */
async function showCurrent(call: CommandContext, { single }: Selection): Promise<void> {
  if (!single) throw usage('Name the files to show on these screens.');
  const reading = call.read('readPlaylist', { params: { id: single.id } });
  const playlist = await orUndefined(reading, 'playlist_not_found');
  await call.results.list([playlist?.items ?? []], itemView);
  const isOver = playlist && playlist.status !== 'active';
  if (!playlist || isOver)
    call.note(
      `"${single.name}" ${isOver ? `shows nothing: its playlist is ${playlist.status}` : 'has no playlist'}. To show a file: signage show ${shellQuote(single.name)} FILE`,
    );
}

/** Returns how long to wait for the TVs, or `undefined`. Says so if there is no TV. */
function waitFor(call: CommandContext, { screens }: Selection): number | undefined {
  const { wait } = call.options;
  if (wait !== undefined || call.common.dryRun) return wait || undefined;
  if (!call.io.stderr.isTTY) return undefined;
  if (screens.some(({ screen }) => screen.deviceId !== null)) return defaultWaitMs;
  const [first] = screens;
  if (first)
    call.note(`No TV is paired there yet. To pair one: signage pair ${shellQuote(first.name)}`);
  return undefined;
}

/** Runs `signage show`. */
export async function runShow(call: CommandContext): Promise<number | undefined> {
  const given: readonly string[] = call.args.what;
  const { add, check, validUntil } = call.options;
  const [name, ...rest] = given;
  const words = hasFilter(call) ? given : rest;
  const selection = await selectionOf(call, hasFilter(call) ? undefined : name);
  if (words.length === 0) {
    await showCurrent(call, selection);
    return undefined;
  }
  const { single } = selection;
  if (add && !single) throw usage('--add needs one screen.');
  const files = new MediaFiles({ allowOutside: true });
  const items = await makeItems(call, words, files);
  await files.upload(call, [{ items }]);
  const reading = single && call.readWithEtag('readPlaylist', { params: { id: single.id } });
  const found = reading && (await orUndefined(reading, 'playlist_not_found'));
  const present = found?.answer.status === 'active' ? found.answer : undefined;
  const kept = add ? present : undefined;
  const body: Publication = {
    items: [...(kept?.items ?? []), ...items],
    validUntil:
      validUntil === undefined
        ? (kept?.validUntil ?? null)
        : readValidUntil(validUntil, call.clock.now(), '--valid-until'),
  };
  if (body.items.length > 500)
    throw usage(`A playlist has at most 500 items, and this one would have ${body.items.length}.`);
  if (check) {
    const { requireGoodMedia } = await import('../playlist/media/run-check.ts');
    await requireGoodMedia(call, single ? [single.name] : [], body);
  }
  const wait = waitFor(call, selection);
  const exitCode = await publishOn(
    { ...call, options: { ...call.options, wait } },
    selection,
    body,
    // Nobody's items are lost if somebody else publishes meanwhile.
    add ? preconditionOf(found ? found.etag : null) : {},
  );
  const isReplaced = present && !add && !isDeepStrictEqual(present.items, body.items);
  if (!call.common.dryRun && isReplaced && single)
    call.note(
      `Replaced ${countText(present.items.length, 'item')}. Undo: signage playlist rollback ${shellQuote(single.name)} ${present.version}`,
    );
  return exitCode;
}
