import { defineCommand, one } from '../../command/spec.ts';
import { findVenue } from '../../records/find.ts';

export const command = defineCommand({
  summary: 'Delete a venue without screens',
  arguments: { venue: one('its id or name', 'venue') },
  examples: [
    ['signage venue delete Lobby', 'asks first'],
    ['signage venue delete Lobby --yes', 'for scripts: does not ask first'],
  ],
  operation: 'deleteVenue',
  effect: 'destroys',
  hints: { venue_not_empty: 'Delete its screens first: signage screen list --venue {venue}' },
  async run(call) {
    const { id, name } = await findVenue(call, call.args.venue);
    await call.confirmDestruction(`Delete the venue "${name}"?`);
    const made = await call.change('deleteVenue', { params: { id } });
    if (made) call.note(`Deleted the venue "${name}".`);
  },
});
