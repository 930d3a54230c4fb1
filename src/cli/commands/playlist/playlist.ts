import { versionOn } from '../../content/publication.ts';
import { allowOutsideOption, publishCheckOptions } from '../../examination/options.ts';
import * as option from '../../input/option.ts';
import { usage } from '../../input/settings.ts';
import { member } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand, one, some } from '../../program/spec.ts';
import { findScreen } from '../../records/find.ts';
import { forEachRecord, printResults } from '../../records/for-each-record.ts';
import {
  confirmDestroyed,
  confirmSelected,
  selectionOptions,
  selectScreens,
  venueOption,
} from '../../records/select-screens.ts';
import {
  itemView,
  playlistView,
  refreshView,
  versionView,
} from '../../records/views/playlist-views.ts';
import { check } from './check.ts';
import { checkCopies, copyStates, repairCopies } from './mirror-copies.ts';
import { stagedOptions } from './stages.ts';

/**
 * Withdraws the playlist of one screen. Returns the word for the result, or `undefined` under
 * `--dry-run`.
 */
async function withdrawFrom(call: CommandContext, id: string): Promise<string | undefined> {
  const before = call.common.dryRun ? undefined : await versionOn(call, id);
  if (before === undefined && !call.common.dryRun) return 'no playlist';
  return (await call.change('withdrawPlaylist', { params: { id } })) && 'withdrawn';
}

const publish = defineCommand({
  summary: 'Publish a playlist on one or more screens',
  description: `The file holds the playlist as YAML or JSON:

  items:
    - creativeId: 11111111-1111-4111-8111-111111111111
      creativeUrl: https://media.example.com/spring.mp4
      creativeType: video        # or image, or html
      duration: 15               # seconds
    - file: menu.png             # a file beside this one, which is uploaded
  validUntil: 2026-12-24         # optional

You can publish the JSON or YAML output of playlist get. Publishing the same content again changes
nothing.

--wait ends when each TV has been given this version or a newer one. Exit code 8: no TV got it in
time; 9: only some did. Screens without a TV are listed but not waited for, unless no screen has a
TV. TVs without long polling fetch it at their next sync, by default within 5 minutes.

--staged publishes on a growing part of the screens, in an order that depends only on their ids.
After each stage it waits for --hold. It stops with exit code 9 when a limit of --stop-on is exceeded:
"errors" are screens on which publishing failed or whose TV sent a playback_error since the start.
"unfetched" are screens whose TV has not fetched the new version by the end of the hold. The same
command with the same --state file continues after an interruption.`,
  arguments: { screens: some('one or more screens, by id or name', 'screen') },
  options: {
    file: option.required(
      '-f, --file <file>',
      'file with the playlist, JSON or YAML; - reads stdin',
    ),
    validUntil: option.text(
      '--valid-until <time>',
      'when the playlist ends: local time, ISO 8601, epoch seconds, a time span such as 7d, or none; overrides the file',
    ),
    allowOutside: allowOutsideOption,
    ...publishCheckOptions,
    wait: option.optionalDuration(
      '--wait <time>',
      'then wait until the TVs have been given this version, at most this long, such as 30s or 10m',
    ),
    ...stagedOptions,
    ...selectionOptions,
  },
  examples: [
    ['signage playlist publish Lobby/Main -f spring.yaml', 'on one screen'],
    [
      'signage playlist publish --venue Lobby -f spring.yaml --wait 10m',
      'on all screens of a venue, until their TVs have it',
    ],
    [
      'signage playlist publish --selector floor=2 -f spring.yaml --valid-until 2026-12-24',
      'on all screens with a label, until Christmas Eve',
    ],
    [
      "signage playlist publish --selector role=menu -f spring.yaml --staged 5%,25%,100% --stop-on 'errors>1%,unfetched>10%' --rollback --state spring.json",
      'in three stages of ten minutes; undone if too many screens fail',
    ],
    [
      'signage playlist publish Lobby/Main -f spring.yaml --check',
      'only if TVs can load all its media',
    ],
    [
      'signage playlist get Lobby/Main -o json | signage playlist publish Lobby/Bar -f -',
      'copies the playlist of another screen',
    ],
  ],
  effect: 'changes',
  async run(call) {
    return (await import('./run-publish.ts')).runPublish(call);
  },
});

const get = defineCommand({
  summary: 'Show the playlist of a screen',
  arguments: { screen: one('its id or name', 'screen') },
  options: { items: option.flag('--items', 'list the items in playing order') },
  examples: [
    ['signage playlist get Lobby/Main', 'version, end and number of items'],
    ['signage playlist get Lobby/Main --items', 'the items'],
    [
      'signage playlist get Lobby/Main -o yaml > playlist.yaml',
      'the whole playlist, ready for playlist publish',
    ],
  ],
  hints: {
    playlist_not_found: 'To publish one: signage playlist publish {screen} -f playlist.yaml',
  },
  async run(call) {
    const screen = await findScreen(call, call.args.screen);
    const playlist = await call.read('readPlaylist', { params: { id: screen.id } });
    if (!call.options.items)
      return call.results.record(playlist, playlistView(call, playlist, screen));
    await call.results.list([playlist.items], itemView);
  },
});

const withdraw = defineCommand({
  summary: 'Withdraw the playlist of one or more screens',
  description: `The screens then play nothing until you publish or roll back. Screens without a
playlist are not changed.`,
  arguments: { screens: some('one or more screens, by id or name', 'screen') },
  options: selectionOptions,
  examples: [
    ['signage playlist withdraw Lobby/Main', 'asks first'],
    ['signage playlist withdraw --venue Lobby --yes', 'for all screens of a venue, without asking'],
  ],
  effect: 'destroys',
  async run(call) {
    const { screens, single } = await selectScreens(call, call.args.screens);
    await confirmDestroyed(call, 'Withdraw the playlist of', screens);
    if (!single) {
      const { changedScreens } = await import('../../records/change-many.ts');
      const change = { action: 'withdraw' as const };
      return printResults(call, (show) => changedScreens(call, screens, change, show));
    }
    const result = await withdrawFrom(call, single.id);
    if (result === 'withdrawn') call.note(`Withdrew the playlist of "${single.name}".`);
    if (result === 'no playlist')
      call.note(`"${single.name}" has no playlist. Nothing was changed.`);
    return undefined;
  },
});

const refresh = defineCommand({
  summary: 'Ask the on-demand source for the playlists of screens now',
  description: `Without this command, TVs get a new answer of the source (docs/on-demand.md) with
one of their next fetches. With it, the service bypasses its cache and asks the source. If the
answer differs, it becomes the next version, and TVs are notified at once.`,
  arguments: { screens: some('one or more screens, by id or name', 'screen') },
  options: selectionOptions,
  examples: [
    ['signage playlist refresh Lobby/Main', 'one screen'],
    ['signage playlist refresh --venue Lobby', 'all screens of a venue'],
  ],
  hints: {
    not_supported: 'To publish a playlist: signage playlist publish {screens} -f playlist.yaml',
    playlist_fetch_failed: 'To see the state of the source: signage doctor',
  },
  effect: 'changes',
  async run(call) {
    const { screens, single } = await selectScreens(call, call.args.screens);
    if (single) {
      const made = await call.change('refreshPlaylist', { params: { id: single.id } });
      if (made) await call.results.record(made.answer, refreshView);
      return undefined;
    }
    await confirmSelected(call, 'Refresh the playlists of', screens);
    return forEachRecord(
      call,
      screens,
      async ({ id }) => {
        const made = await call.change('refreshPlaylist', { params: { id } });
        if (!made) return undefined;
        const { version, changed } = made.answer;
        return { result: changed ? 'changed' : 'unchanged', version };
      },
      [member<{ version?: number }, 'version'>('version')],
    );
  },
});

const history = defineCommand({
  summary: 'List the versions of the playlist of a screen',
  description:
    'Newest first, including the current version. The service keeps the last 20 versions.',
  arguments: { screen: one('its id or name', 'screen') },
  examples: [
    ['signage playlist history Lobby/Main', 'all kept versions and their status'],
    [
      'signage playlist history Lobby/Main --limit 2 -o ndjson',
      'the last two versions, with all fields',
    ],
  ],
  list: true,
  async run(call) {
    const screen = await findScreen(call, call.args.screen);
    const params = { id: screen.id };
    await call.list('listPlaylistVersions', versionView(call, screen), { params });
  },
});

const mirror = defineCommand({
  summary: 'Check or repair the playlist copies in the object store',
  description: `The service keeps a copy of each screen's playlist in an object store
(docs/object-store.md). The command compares the copies with the service. The states ok and tombstone
(withdrawn on both sides) match. The states missing, stale, newer and damaged differ; the exit code
is then 9. The column QUEUED AT shows when a pending copy was queued. --repair checks all copies in
the background and repairs those that differ.`,
  options: {
    repair: option.flag('--repair', 'repair the copies that differ'),
    venue: venueOption('check only this venue, by id or name'),
    state: option.choice(copyStates, '--state <state>', 'show only copies in this state'),
  },
  examples: [
    ['signage playlist mirror', 'the state of all copies'],
    ['signage playlist mirror --state missing -o name', 'the screens without a copy'],
    ['signage playlist mirror --repair', 'repairs the copies that differ'],
  ],
  effect: 'changes',
  list: true,
  async run(call) {
    const { repair, venue, state } = call.options;
    if (repair && (venue.length > 0 || state !== undefined))
      throw usage('--repair covers all screens: leave out --venue and --state.');
    return repair ? repairCopies(call) : checkCopies(call, { venue, state });
  },
});

const rollback = defineCommand({
  summary: 'Publish an earlier version of a playlist again',
  description: `The old content becomes a new version. The current version stays in the history.

The last word is the version to go back to: a number, or previous, the version before the current
one. Several screens need previous. The --state file records the playlist of each screen
before the first change. A screen is changed only if its playlist is still the recorded one, so
newer playlists of others are never overwritten. Run the same command with the same file again to
retry the screens that failed. It changes nothing twice. Screens without a playlist are not changed.`,
  arguments: {
    target: some('one or more screens, by id or name, and last the version', 'screen'),
  },
  options: {
    validUntil: option.text(
      '--valid-until <time>',
      'a new end: local time, ISO 8601, epoch seconds, a time span such as 7d, or none',
    ),
    state: option.text(
      '--state <file>',
      'with several screens: file that records the earlier playlists; default: a new file beside the saved contexts',
    ),
    ...selectionOptions,
  },
  examples: [
    ['signage playlist rollback Lobby/Main previous', 'goes back by one version'],
    ['signage playlist rollback Lobby/Main 3', 'publishes the content of version 3'],
    [
      'signage playlist rollback Lobby/Main 3 --valid-until none',
      'the same without an end, if version 3 has expired',
    ],
    [
      'signage playlist rollback previous --selector role=menu --state undo-menu.json',
      'all screens with a label; can be run again',
    ],
  ],
  effect: 'changes',
  async run(call) {
    return (await import('./run-rollback.ts')).runRollback(call);
  },
});

export const playlist = { publish, check, get, withdraw, refresh, history, mirror, rollback };
