import { defineCommand, one } from '../../command/spec.ts';
import { findScreen } from '../../records/find.ts';
import { versionView } from '../../records/views/playlist-view.ts';

export const command = defineCommand({
  summary: 'List the versions of the playlist of a screen',
  description: 'Newest first, with the one that stands now. The last 20 are kept.',
  arguments: { screen: one('its id or name', 'screen') },
  examples: [
    ['signage playlist history Lobby/Main', 'what there was, and what became of it'],
    ['signage playlist history Lobby/Main --limit 2 -o ndjson', 'the last two, whole'],
  ],
  operation: 'listPlaylistVersions',
  effect: 'reads',
  list: true,
  async run(call) {
    const { id } = await findScreen(call, call.args.screen);
    await call.list('listPlaylistVersions', versionView, { params: { id } });
  },
});
