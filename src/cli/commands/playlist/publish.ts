import { hasCode } from '../../../domain/error.ts';
import type { Publication } from '../../../domain/records/playlist.ts';
import type { CommandContext } from '../../command/context.ts';
import { forEachRecord } from '../../command/for-each-record.ts';
import { defineCommand, some } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { isSingle, resolveScreens, selectionOptions } from '../../options/select-screens.ts';
import { checkPublication, readPublication } from '../../playlist/publication.ts';
import { playlistView } from '../../records/views/playlist-views.ts';

async function versionOn(call: CommandContext, id: string): Promise<number | undefined> {
  try {
    return (await call.read('readPlaylist', { params: { id } })).version;
  } catch (error) {
    if (hasCode(error, 'playlist_not_found')) return undefined;
    throw error;
  }
}

/** Publishes on one of several screens. Returns the result for its row. */
async function publishOn(
  call: CommandContext,
  id: string,
  body: Publication,
): Promise<string | undefined> {
  const before = call.common.dryRun ? undefined : await versionOn(call, id);
  const made = await call.change('publishPlaylist', { params: { id }, body });
  return made && (made.answer.version === before ? 'unchanged' : 'published');
}

export const command = defineCommand({
  summary: 'Publish a playlist on one or more screens',
  description: `The file holds the playlist as YAML or JSON:

  items:
    - creativeId: 11111111-1111-4111-8111-111111111111
      creativeUrl: https://media.example.com/spring.mp4
      creativeType: video        # or image, or html
      duration: 15               # seconds
  validUntil: 2026-12-24         # optional

You can publish the JSON or YAML output of playlist get. Publishing the same content again changes
nothing.`,
  arguments: { screens: some('one or more screens, by id or name', 'screen') },
  options: {
    file: option.required(
      '-f, --file <file>',
      'file with the playlist, JSON or YAML; - reads stdin',
    ),
    validUntil: option.text(
      '--valid-until <time>',
      'when the playlist ends: ISO 8601, epoch seconds, a time span such as 7d, or none; overrides the file',
    ),
    ...selectionOptions,
  },
  examples: [
    ['signage playlist publish Lobby/Main -f spring.yaml', 'on one screen'],
    [
      'signage playlist publish --selector floor=2 -f spring.yaml --valid-until 2026-12-24',
      'on all screens with a label, until Christmas Eve',
    ],
    [
      'signage playlist get Lobby/Main -o json | signage playlist publish Lobby/Bar -f -',
      'copies the playlist of another screen',
    ],
  ],
  operation: 'publishPlaylist',
  effect: 'changes',
  async run(call) {
    const { file, validUntil } = call.options;
    const choice = { screens: call.args.screens, ...call.options };
    const body = await readPublication(call, file, validUntil);
    if (call.common.dryRun || !isSingle(choice)) await checkPublication(body);
    const screens = await resolveScreens(call, choice);
    if (!isSingle(choice))
      return forEachRecord(
        call,
        screens,
        ({ id, name }) => ({ id, name }),
        ({ id }) => publishOn(call, id, body),
      );
    const made = await call.change('publishPlaylist', {
      params: { id: screens[0]?.id ?? '' },
      body,
    });
    if (made) await call.results.record(made.answer, playlistView);
  },
});
