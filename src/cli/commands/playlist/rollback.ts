import { SignageError } from '../../../domain/error.ts';
import type { PlaylistView as Playlist } from '../../../domain/records/playlist.ts';
import { defineCommand, one } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { usage } from '../../options/settings.ts';
import { readValidUntil } from '../../playlist/publication.ts';
import { findScreen } from '../../records/find.ts';
import { shellQuote } from '../../records/text.ts';
import { playlistView } from '../../records/views/playlist-views.ts';

function readVersion(text: string): number {
  const [, digits] = /^v?([1-9]\d{0,14})$/.exec(text) ?? [];
  if (digits === undefined) throw usage(`A version is a whole number such as 3, not "${text}".`);
  return Number(digits);
}

function find(versions: readonly Playlist[], wanted: number, screen: string): Playlist {
  const found = versions.find(({ version }) => version === wanted);
  if (found) return found;
  const kept = versions.map(({ version }) => version).join(', ');
  const message = `There is no version ${wanted} of the playlist of "${screen}"${kept && `. Kept versions: ${kept}`}.`;
  throw new SignageError('playlist_not_found', message, {
    hint: `signage playlist history ${shellQuote(screen)}`,
  });
}

export const command = defineCommand({
  summary: 'Publish an earlier version of a playlist again',
  description: 'The old content becomes a new version. The current version stays in the history.',
  arguments: { screen: one('its id or name', 'screen'), version: one('the version to go back to') },
  options: {
    validUntil: option.text(
      '--valid-until <time>',
      'a new end: ISO 8601, epoch seconds, a time span such as 7d, or none',
    ),
  },
  examples: [
    ['signage playlist rollback Lobby/Main 3', 'publishes the content of version 3'],
    [
      'signage playlist rollback Lobby/Main 3 --valid-until none',
      'the same without an end, if version 3 has expired',
    ],
  ],
  effect: 'changes',
  async run(call) {
    const { screen: name, version: text } = call.args;
    const wanted = readVersion(text);
    const given =
      call.options.validUntil === undefined
        ? undefined
        : readValidUntil(call, call.options.validUntil);
    const { id } = await findScreen(call, name);
    const versions = await call.all('listPlaylistVersions', { params: { id } });
    const { items, validUntil: former } = find(versions, wanted, name);
    const validUntil = given === undefined ? former : given;
    if (given === undefined && former !== null && former * 1000 <= call.clock.now()) {
      throw new SignageError('invalid_request', `Version ${wanted} has expired.`, {
        hint: 'Give it a new end: --valid-until 7d, or --valid-until none.',
      });
    }
    const made = await call.change('publishPlaylist', {
      params: { id },
      body: { items, validUntil },
    });
    if (!made) return;
    const { version } = made.answer;
    const isNew = version !== versions[0]?.version;
    call.note(
      isNew
        ? `Published the content of version ${wanted} on "${name}" as version ${version}.`
        : `Nothing to do: "${name}" already has this content.`,
    );
    await call.results.record(made.answer, playlistView);
  },
});
