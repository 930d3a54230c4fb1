import type { CallAnswer } from '../../../client/call.ts';
import { SignageError } from '../../../domain/error.ts';
import type { Publication } from '../../../domain/playlists/playlist.ts';
import { MediaFiles } from '../../content/media-files.ts';
import { readPublication } from '../../content/publication.ts';
import { makeItems } from '../../content/shown-items.ts';
import { examinationMs, examineFirst } from '../../examination/examine-first.ts';
import { waitForGlass } from '../../glass/glass-wait.ts';
import { usage } from '../../input/settings.ts';
import { type ReadZone, readTimeIn, shownEpoch } from '../../input/time.ts';
import { member, type View } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { changedScreens } from '../../records/change-many.ts';
import { findScreen, orUndefined } from '../../records/find.ts';
import { forEachRecord, printResults } from '../../records/for-each-record.ts';
import {
  confirmDestroyed,
  confirmSelected,
  hasFilter,
  selectScreens,
} from '../../records/select-screens.ts';
import { readVenueTimes, type VenueTimes } from '../../times/venue-times.ts';
import { zoneOfScreens } from '../../times/venue-zone.ts';

type Takeover = CallAnswer<'getTakeover'>;

/** The view of a takeover. `-o name` prints the screen. */
const takeoverView = (screen: string, times: VenueTimes): View<Takeover> => ({
  columns: [
    {
      name: 'until',
      value: ({ until }) => shownEpoch(until),
      shown: ({ until }) => times.zoned(until * 1000),
    },
    { ...member<Takeover, 'since'>('since'), shown: ({ since }) => times.plain(since) },
    { name: 'items', value: ({ items }) => items.length },
  ],
  nameOf: () => screen,
});

/** Returns the end in Unix epoch seconds, from `--for` or `--until`. */
async function readEnd(
  { options, clock }: Pick<CommandContext, 'options' | 'clock'>,
  readZone: ReadZone,
): Promise<number> {
  const nowMs = clock.now();
  const { for: spanMs, until } = options;
  const context = { source: '--until', nowMs, spans: 'ahead', which: 'later' } as const;
  const endMs = until === undefined ? nowMs + spanMs : await readTimeIn(readZone, until, context);
  if (endMs <= nowMs) throw usage('A takeover must end in the future.');
  return Math.ceil(endMs / 1000);
}

const isPlaylistFile = (word: string) => word === '-' || /\.(ya?ml|json)["'”’]?\s*$/i.test(word);

/** Reads the items of a playlist file, or makes them of media files and URLs. */
async function readItems(call: CommandContext, words: readonly string[], untilMs: number) {
  const [first = ''] = words;
  if (words.length > 1 && words.some(isPlaylistFile))
    throw usage('Give one playlist file, or media files and URLs.');
  if (isPlaylistFile(first) && !/^https?:/i.test(first)) {
    const { publication, files } = await readPublication(call, first, call.options);
    return { items: publication.items, files };
  }
  const files = new MediaFiles(call, { allowOutside: true, force: call.options.force });
  const items: Publication['items'] = await makeItems(call, words, files, untilMs);
  return { items, files };
}

/** Runs `signage takeover set`. */
export async function runSetTakeover(call: CommandContext): Promise<number | undefined> {
  const given: readonly string[] = call.args.what;
  if ((call.options.for === undefined) === (call.options.until === undefined))
    throw usage('Say when it ends: give --for or --until.');
  const words = hasFilter(call) ? given : given.slice(1);
  if (words.length === 0) throw usage('Name the screen, and then what to show on it.');
  const selection = await selectScreens(call, hasFilter(call) ? [] : given.slice(0, 1));
  const { screens, single } = selection;
  const until = await readEnd(
    call,
    zoneOfScreens(call, async () => selection),
  );
  const untilMs = call.clock.now() + examinationMs;
  const { items, files } = await readItems(call, words, untilMs);
  await examineFirst(call, items, { untilMs });
  if (single) {
    await files.upload(call, [{ items }]);
    const params = { id: single.id };
    const made = await call.change('putTakeover', { params, body: { items, until } });
    if (!made) return undefined;
    await call.results.record(made.answer, async () =>
      takeoverView(single.name, await readVenueTimes(call, single.screen.venueId)),
    );
    await waitForGlass(call, screens, 'the takeover');
    return undefined;
  }
  await confirmSelected(call, 'Take over', screens);
  await files.upload(call, [{ items }]);
  const change = { action: 'takeover' as const, items, until };
  const exitCode = await printResults(call, (show) => changedScreens(call, screens, change, show));
  if (!exitCode) await waitForGlass(call, screens, 'the takeover');
  return exitCode;
}

/** Runs `signage takeover get`. */
export async function runGetTakeover(call: CommandContext): Promise<void> {
  const { id, venueId } = await findScreen(call, call.args.screen);
  const found = await call.read('getTakeover', { params: { id } });
  await call.results.record(found, async () =>
    takeoverView(call.args.screen, await readVenueTimes(call, venueId)),
  );
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
  const before = 'what was there before';
  if (!single) {
    const exitCode = await forEachRecord(call, screens, ({ id }) => end(call, id));
    if (!exitCode) await waitForGlass(call, screens, before);
    return exitCode;
  }
  const result = await end(call, single.id);
  if (result === 'no takeover')
    throw new SignageError('takeover_not_found', `"${single.name}" has no takeover.`);
  if (result !== 'ended') return undefined;
  call.note(`Ended the takeover of "${single.name}".`);
  await waitForGlass(call, screens, before);
  return undefined;
}
