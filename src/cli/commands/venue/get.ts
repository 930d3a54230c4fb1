import { defineCommand, one } from '../../command/spec.ts';
import { findVenue } from '../../records/find.ts';
import { venueView } from '../../records/views/place-views.ts';

export const command = defineCommand({
  summary: 'Show a venue',
  arguments: { venue: one('its id or name', 'venue') },
  examples: [
    ['signage venue get Lobby', 'by its name'],
    ['signage venue get Lobby -o json --jq .timezone', 'one field'],
  ],
  operation: 'getVenue',
  effect: 'reads',
  async run(call) {
    await call.results.record(await findVenue(call, call.args.venue), venueView);
  },
});
