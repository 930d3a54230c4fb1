import { iso } from '../../../domain/clock.ts';
import { defaultTicketDays, maxTicketUses } from '../../../domain/tickets/ticket-limits.ts';
import { ticketIn } from '../../../player/pairing/ticket-link.ts';
import * as option from '../../input/option.ts';
import { usage } from '../../input/settings.ts';
import { defineCommand, many, some } from '../../program/spec.ts';
import { listOfVenues, venueIdsOf } from '../../records/of-venues.ts';
import { selectionOptions, venueOption } from '../../records/select-screens.ts';
import { ticketsView } from '../../records/views/device-views.ts';

const create = defineCommand({
  summary: 'Create links with which TVs pair themselves',
  description: `A link binds one TV to one screen: open it on the TV, or give it to a TV app. It
works once, and never while another TV is on the screen. A new link of a screen replaces the one
before. Screens that have a TV get none. --shared makes one ticket for all TVs of a venue, such as
for an image or a device management: its TVs wait until an installer pairs them with signage pair
--tv. Links are secrets: they go to a new file (mode 0600), or to stdout with --out -.`,
  arguments: { screen: some('its id, or its name such as Lobby/Main', 'screen') },
  options: {
    ...selectionOptions,
    shared: option.flag('--shared', 'one ticket for the TVs of the one --venue, which then wait'),
    uses: option.count(
      [1, maxTicketUses],
      '--uses <number>',
      'with --shared: how many TVs may be paired with it',
    ),
    expires: option.duration(
      `${defaultTicketDays}d`,
      '--expires <time>',
      'how long they can be used, up to 90d',
      'd',
    ),
    out: option.text('--out <file>', 'write venue, screen and link to this new file (CSV)'),
    qr: option.text('--qr <file>', 'write a page with QR codes, 12 a sheet, to this new file'),
  },
  examples: [
    [
      'signage ticket create --venue Lobby --out links.csv --qr links.html',
      'a link for each screen of the venue without a TV, and a page to print',
    ],
    ['signage ticket create Lobby/Main --out -', 'prints the link of one screen'],
    [
      'signage ticket create --venue Lobby --shared --uses 40 --out ticket.csv',
      'for an image: its TVs wait, and signage claim list shows them',
    ],
  ],
  effect: 'changes',
  async run(call) {
    const { createTickets } = await import('./create-tickets.ts');
    const expiresAt = iso(call.clock.now() + call.options.expires);
    return createTickets(call, expiresAt);
  },
});

const list = defineCommand({
  summary: 'List tickets',
  description: 'Shows which links were used, and how many TVs were paired with shared tickets.',
  options: { venue: venueOption('only tickets of this venue, by id or name') },
  examples: [
    ['signage ticket list', 'all'],
    ['signage ticket list --venue Lobby', 'of one venue'],
  ],
  list: true,
  async run(call) {
    const venueIds = await venueIdsOf(call, call.options.venue);
    await listOfVenues(call, venueIds, 'listTickets', ticketsView(call), {});
  },
});

const revoke = defineCommand({
  summary: 'Revoke tickets',
  description: `TVs that wait with it stop waiting. TVs that were paired with it stay paired: to
remove one, use signage device revoke.`,
  arguments: { id: many('its id, as signage ticket list shows it') },
  examples: [['signage ticket revoke 0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e', 'by its id']],
  effect: 'changes',
  async run(call) {
    if (call.args.id.some((id) => ticketIn(id) !== undefined))
      throw usage('Name the ticket by its id, as signage ticket list shows it, not by its secret.');
    for (const id of call.args.id) {
      const made = await call.change('revokeTicket', { params: { id } });
      if (made) call.note('Revoked the ticket.');
    }
  },
});

export const ticket = { create, list, revoke };
