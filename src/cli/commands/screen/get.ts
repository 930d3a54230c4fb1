import { defineCommand, one } from '../../command/spec.ts';
import { findScreen } from '../../records/find.ts';
import { screensOfVenueView } from '../../records/views/place-views.ts';

export const command = defineCommand({
  summary: 'Show a screen',
  arguments: { screen: one('its id, or its name such as Lobby/Main', 'screen') },
  examples: [
    ['signage screen get Lobby/Main', 'by venue and name'],
    ['signage screen get Main', 'by name only, if it is unique'],
    ['signage screen get Lobby/Main -o json --jq .state', 'one field'],
  ],
  operation: 'getScreen',
  effect: 'reads',
  async run(call) {
    const screen = await findScreen(call, call.args.screen);
    await call.results.record(screen, screensOfVenueView(call, screen.venueId));
  },
});
