import { defineCommand, one } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { findScreen } from '../../records/find.ts';
import { itemView, playlistView } from '../../records/views/playlist-view.ts';

export const command = defineCommand({
  summary: 'Show the playlist of a screen',
  arguments: { screen: one('its id or name', 'screen') },
  options: { items: option.flag('--items', 'list what is played, in its order') },
  examples: [
    ['signage playlist get Lobby/Main', 'its version, its end, and how much there is'],
    ['signage playlist get Lobby/Main --items', 'what is played'],
    [
      'signage playlist get Lobby/Main -o yaml > playlist.yaml',
      'whole, as playlist publish takes it',
    ],
  ],
  operation: 'readPlaylist',
  effect: 'reads',
  hints: { playlist_not_found: 'Give it one: signage playlist publish {screen} -f playlist.yaml' },
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
