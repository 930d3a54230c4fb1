import { defineCommand } from '../program/spec.ts';
import { listOfVenues, venueIdsOf } from '../records/of-venues.ts';
import { venueOption } from '../records/select-screens.ts';
import { waitingView } from '../records/views/device-views.ts';
import { countText } from '../terminal/text.ts';

const list = defineCommand({
  summary: 'List the TVs that wait with a shared ticket',
  description: `Pair one with signage pair Lobby/Main --tv CLAIM, or all that a screen expects by
their serial number with signage pair --venue Lobby --all --tv. TVs without a ticket are not listed:
read the claim on the TV.`,
  options: { venue: venueOption('only TVs of this venue, by id or name') },
  examples: [
    ['signage claim list', 'claim, model, serial number, address, and the screen that expects it'],
    ['signage claim list --venue Lobby -o name', 'the claims alone'],
  ],
  list: true,
  async run(call) {
    const venueIds = await venueIdsOf(call, call.options.venue);
    if (await listOfVenues(call, venueIds, 'listClaims', waitingView(call), {})) return;
    const tickets = (await call.all('listTickets')).filter(
      ({ screenId, status, venueId }) =>
        screenId === null &&
        status === 'live' &&
        (venueIds.length === 0 || venueIds.includes(venueId)),
    );
    call.note(
      tickets.length > 0
        ? `${countText(tickets.length, 'shared ticket')} can be used, and no TV waits with one now.`
        : 'There is no shared ticket with which TVs could wait: signage ticket create --shared',
    );
  },
});

export const claim = { list };
