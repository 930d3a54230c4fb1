import { defineCommand, one } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { findScreen } from '../../records/find.ts';
import { itemView, playlistView } from '../../records/views/playlist-views.ts';

export const command = defineCommand({
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
  operation: 'readPlaylist',
  effect: 'reads',
  hints: {
    playlist_not_found: 'To publish one: signage playlist publish {screen} -f playlist.yaml',
  },
  async run(call) {
    const { id } = await findScreen(call, call.args.screen);
    const playlist = await call.read('readPlaylist', { params: { id } });
    if (!call.options.items) return call.results.record(playlist, playlistView);
    async function* items() {
      yield playlist.items;
    }
    await call.results.list(items(), itemView);
  },
});
