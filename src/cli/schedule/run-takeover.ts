import type { CallAnswer } from '../../client/call.ts';
import { SignageError } from '../../domain/error.ts';
import type { Publication } from '../../domain/playlists/playlist.ts';
import type { CommandContext } from '../command/context.ts';
import { forEachRecord, printResults } from '../command/for-each-record.ts';
import { MediaFiles } from '../media/media-files.ts';
import { makeItems } from '../media/run-show.ts';
import {
  confirmDestroyed,
  confirmSelected,
  hasFilter,
  selectScreens,
} from '../options/select-screens.ts';
import { usage } from '../options/settings.ts';
import { readTime, shownEpoch } from '../options/time.ts';
import { member, type View } from '../output/view.ts';
import { changedScreens } from '../playlist/change-many.ts';
import { readPublication } from '../playlist/publication.ts';
import { findScreen, orUndefined } from '../records/find.ts';

type Takeover = CallAnswer<'getTakeover'>;

/** The view of a takeover. `-o name` prints the screen. */
const takeoverView = (screen: string): View<Takeover> => ({
  columns: [
    { name: 'until', value: ({ until }) => shownEpoch(until) },
    member<Takeover, 'since'>('since'),
    { name: 'items', value: ({ items }) => items.length },
  ],
  nameOf: () => screen,
});

/** Returns the end in Unix epoch seconds, from `--for` or `--until`. */
function readEnd({ options, clock }: CommandContext): number {
  const nowMs = clock.now();
  const { for: spanMs, until } = options;
  if ((spanMs === undefined) === (until === undefined))
    throw usage('Say when it ends: give --for or --until.');
  const endMs =
    until === undefined
      ? nowMs + spanMs
      : readTime(until, { source: '--until', nowMs, spans: 'ahead' });
  if (endMs <= nowMs) throw usage('A takeover must end in the future.');
  return Math.ceil(endMs / 1000);
}

const isPlaylistFile = (word: string) => word === '-' || /\.(ya?ml|json)$/i.test(word);

/** Reads the items of a playlist file, or makes them of media files and URLs. */
async function readItems(call: CommandContext, words: readonly string[]) {
  const [first = ''] = words;
  if (words.length > 1 && words.some(isPlaylistFile))
    throw usage('Give one playlist file, or media files and URLs.');
  if (isPlaylistFile(first) && !/^https?:/i.test(first)) {
    const { allowOutside } = call.options;
    const { publication, files } = await readPublication(call, first, { allowOutside });
    return { items: publication.items, files };
  }
  const files = new MediaFiles({ allowOutside: true });
  const items: Publication['items'] = await makeItems(call, words, files);
  return { items, files };
}

/** Runs `signage takeover set`. */
export async function runSetTakeover(call: CommandContext): Promise<number | undefined> {
  const given: readonly string[] = call.args.what;
  const until = readEnd(call);
  const words = hasFilter(call) ? given : given.slice(1);
  if (words.length === 0) throw usage('Name the screen, and then what to show on it.');
  const { screens, single } = await selectScreens(call, hasFilter(call) ? [] : given.slice(0, 1));
  const { items, files } = await readItems(call, words);
  if (single) {
    await files.upload(call, [{ items }]);
    const params = { id: single.id };
    const made = await call.change('putTakeover', { params, body: { items, until } });
    if (made) await call.results.record(made.answer, takeoverView(single.name));
    return undefined;
  }
  await confirmSelected(call, 'Take over', screens);
  await files.upload(call, [{ items }]);
  const change = { action: 'takeover' as const, items, until };
  return printResults(call, (show) => changedScreens(call, screens, change, show));
}

/** Runs `signage takeover get`. */
export async function runGetTakeover(call: CommandContext): Promise<void> {
  const { id } = await findScreen(call, call.args.screen);
  const found = await call.read('getTakeover', { params: { id } });
  await call.results.record(found, takeoverView(call.args.screen));
}

/** Ends a takeover. Returns the word for the result, or `undefined` under `--dry-run`. */
async function end(call: CommandContext, id: string): Promise<string | undefined> {
  const params = { id };
  if (!call.common.dryRun) {
    const present = await orUndefined(call.read('getTakeover', { params }), 'takeover_not_found');
    if (!present) return 'no takeover';
  }
  return (await call.change('deleteTakeover', { params })) && 'ended';
}

/** Runs `signage takeover clear`. */
export async function runClearTakeover(call: CommandContext): Promise<number | undefined> {
  const { screens, single } = await selectScreens(call, call.args.screens);
  await confirmDestroyed(call, 'End the takeover of', screens);
  if (!single) return forEachRecord(call, screens, ({ id }) => end(call, id));
  const result = await end(call, single.id);
  if (result === 'no takeover')
    throw new SignageError('takeover_not_found', `"${single.name}" has no takeover.`);
  if (result === 'ended') call.note(`Ended the takeover of "${single.name}".`);
  return undefined;
}
