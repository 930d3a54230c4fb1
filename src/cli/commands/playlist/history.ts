import { defineCommand, one } from '../../command/spec.ts';
import { findScreen } from '../../records/find.ts';
import { versionView } from '../../records/views/playlist-views.ts';

export const command = defineCommand({
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
  operation: 'listPlaylistVersions',
  effect: 'reads',
  list: true,
  async run(call) {
    const { id } = await findScreen(call, call.args.screen);
    await call.list('listPlaylistVersions', versionView, { params: { id } });
  },
});
