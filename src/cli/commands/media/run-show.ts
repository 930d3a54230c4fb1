import { isDeepStrictEqual } from 'node:util';
import { secondMs } from '../../../domain/clock.ts';
import { hasCode } from '../../../domain/error.ts';
import type { Publication } from '../../../domain/playlists/playlist.ts';
import { preconditionOf } from '../../connection/conditional.ts';
import { MediaFiles } from '../../content/media-files.ts';
import type { MediaItem } from '../../content/media-item.ts';
import { isUrl, makeItems, pathOf } from '../../content/shown-items.ts';
import { examineFirst } from '../../examination/examine-first.ts';
import { publishOn } from '../../glass/publish-on.ts';
import { usage } from '../../input/settings.ts';
import { connectionOptions } from '../../input/shared.ts';
import { readLocalEnd } from '../../input/time.ts';
import type { CommandContext } from '../../program/context.ts';
import { orUndefined } from '../../records/find.ts';
import {
  hasFilter,
  type Selected,
  type Selection,
  selectScreens,
} from '../../records/select-screens.ts';
import { itemView, playlistView, shownView } from '../../records/views/playlist-views.ts';
import { countText, shellQuote } from '../../terminal/text.ts';
import { zoneOfScreens } from '../../times/venue-zone.ts';

/** How long `show` waits for the TVs at a terminal. */
const defaultWaitMs = 60 * secondMs;

/** Returns the screens. A first word that is a file instead of a screen gets a hint. */
async function selectionOf(call: CommandContext, name: string | undefined): Promise<Selection> {
  try {
    return await selectScreens(call, name === undefined ? [] : [name]);
  } catch (error) {
    if (!hasCode(error, 'screen_not_found') || name === undefined) throw error;
    if (!isUrl(name) && (await pathOf(name)).kind === 'missing') throw error;
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

/** Returns the name of a campaign. Throws `usage` before anything is uploaded. */
async function readCampaign(name: string): Promise<string> {
  const { campaignName } = await import('../../../domain/playlists/playlist.ts');
  const { data, error } = campaignName.safeParse(name);
  if (data === undefined) throw usage(`--campaign ${error?.issues[0]?.message}.`);
  return data;
}

/** Adds subtitles to the only video. Throws `usage` before anything is uploaded. */
function withSubtitles(items: readonly MediaItem[], subtitles: string | undefined) {
  if (subtitles === undefined) return items;
  if (!isUrl(subtitles))
    throw usage(
      `--subtitles takes the URL of a WebVTT file, not "${subtitles}": the service keeps no subtitles.`,
    );
  const videos = items.filter(({ creativeType }) => creativeType === 'video');
  if (videos.length !== 1)
    throw usage(
      `--subtitles belong to one video, and there ${videos.length === 0 ? 'is none' : `are ${videos.length}`}.`,
      'Name the subtitles of each video in a playlist file: signage playlist publish.',
    );
  return items.map((item) => (item.creativeType === 'video' ? { ...item, subtitles } : item));
}

/** Returns the command that publishes a version again, with the connection of this command. */
function undoLine({ flags }: CommandContext, { id, name }: Selected, version: number): string {
  const connection = Object.entries(connectionOptions).flatMap(([key, setting]) => {
    const value = flags[key];
    const [flag = ''] = setting.flags.split(' ');
    if (typeof value === 'string') return [flag, shellQuote(value)];
    return value === true ? [flag] : [];
  });
  const screen = name.startsWith('-') ? id : shellQuote(name);
  return ['signage playlist rollback', screen, version, ...connection].join(' ');
}

/** Runs `signage show`. */
export async function runShow(call: CommandContext): Promise<number | undefined> {
  const given: readonly string[] = call.args.what;
  const { add, campaign, check, subtitles, validUntil } = call.options;
  const [name, ...rest] = given;
  const words = hasFilter(call) ? given : rest;
  const selection = await selectionOf(call, hasFilter(call) ? undefined : name);
  if (words.length === 0) {
    await showCurrent(call, selection);
    return undefined;
  }
  const { single } = selection;
  const end =
    validUntil === undefined
      ? undefined
      : await readLocalEnd(
          zoneOfScreens(call, async () => selection),
          validUntil,
          call.clock.now(),
        );
  if (add && !single)
    throw usage(
      '--add adds to what one screen plays, so it needs one screen. For several, list all that they play, without --add.',
    );
  const files = new MediaFiles(call, { allowOutside: true, force: call.options.force });
  const named = campaign === undefined ? {} : { campaign: await readCampaign(campaign) };
  const made = withSubtitles(await makeItems(call, words, files), subtitles);
  const items = made.map((item) => ({ ...item, ...named }));
  if (!check) await examineFirst(call, items);
  await files.upload(call, [{ items }]);
  const reading = single && call.readWithEtag('readPlaylist', { params: { id: single.id } });
  const found = reading && (await orUndefined(reading, 'playlist_not_found'));
  const present = found?.answer.status === 'active' ? found.answer : undefined;
  const kept = add ? present : undefined;
  const body: Publication = {
    items: [...(kept?.items ?? []), ...items],
    validUntil: end === undefined ? (kept?.validUntil ?? null) : end,
  };
  if (body.items.length > 500)
    throw usage(`A playlist has at most 500 items, and this one would have ${body.items.length}.`);
  if (check) {
    const { requireGoodMedia } = await import('../../examination/run-check.ts');
    await requireGoodMedia(call, single ? [single.name] : [], body);
  }
  const wait = waitFor(call, selection);
  const exitCode = await publishOn(
    { ...call, options: { ...call.options, wait } },
    selection,
    body,
    {
      // Nobody's items are lost if somebody else publishes meanwhile.
      headers: add ? preconditionOf(found ? found.etag : null) : {},
      view: call.common.output === 'wide' ? playlistView : shownView,
    },
  );
  const isReplaced = present && !add && !isDeepStrictEqual(present.items, body.items);
  if (!call.common.dryRun && isReplaced && single)
    call.note(
      `Replaced ${countText(present.items.length, 'item')}. Undo: ${undoLine(call, single, present.version)}`,
    );
  return exitCode;
}
