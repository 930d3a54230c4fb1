import { defineCommand } from '../../command/spec.ts';
import { labelFilters } from '../../options/labels.ts';
import * as option from '../../options/option.ts';
import { findVenue } from '../../records/find.ts';
import { screensOfVenueView, screensView } from '../../records/views/place-views.ts';

export const command = defineCommand({
  summary: 'List screens',
  options: {
    venue: option.text('--venue <venue>', 'only screens of this venue, by id or name', 'venue'),
    state: option.choice(
      ['provisioning', 'active'],
      '--state <state>',
      'only screens in this state',
    ),
    label: option.repeated('--label <key=value>', 'only screens with this label'),
    search: option.text('--search <text>', 'only names that contain this text'),
  },
  examples: [
    ['signage screen list', 'all'],
    ['signage screen list --venue Lobby --state provisioning', 'screens without a TV'],
    ['signage screen list --label floor=2 -o name', 'names that other commands accept'],
  ],
  operation: 'listScreens',
  effect: 'reads',
  list: true,
  async run(call) {
    const { venue, state, label, search } = call.options;
    const venueId = venue === undefined ? undefined : (await findVenue(call, venue)).id;
    const query = {
      ...(venueId !== undefined && { venueId }),
      ...(state !== undefined && { state }),
      ...(search !== undefined && { search }),
      ...(label.length > 0 && { label: labelFilters(label) }),
    };
    await call.list(
      'listScreens',
      venueId === undefined ? screensView(call) : screensOfVenueView(call, venueId),
      { query },
    );
  },
});
