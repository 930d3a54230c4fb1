import { defineCommand } from '../../command/spec.ts';
import { readLabels } from '../../options/labels.ts';
import * as option from '../../options/option.ts';
import { findVenue } from '../../records/find.ts';
import { screensOfVenueView } from '../../records/views/place-views.ts';

export const command = defineCommand({
  summary: 'Create a screen in a venue',
  options: {
    venue: option.required('--venue <venue>', 'the venue, by id or name', 'venue'),
    name: option.required('--name <name>', 'its name, unique in the venue'),
    label: option.repeated('--label <key=value>', 'a label'),
  },
  examples: [
    ['signage screen create --venue Lobby --name Main', 'next: signage pair Lobby/Main'],
    [
      'signage screen create --venue Lobby --name Main --label floor=2',
      'with a label to select it by',
    ],
    [
      'signage screen create --venue Lobby --name Main -o json --jq .id',
      'for scripts: prints the id alone',
    ],
  ],
  operation: 'createScreen',
  effect: 'changes',
  hints: { name_taken: 'It already exists: signage screen get {venue}/{name}' },
  async run(call) {
    const { venue, name, label } = call.options;
    const labels = readLabels(label);
    const { id: venueId } = await findVenue(call, venue);
    const made = await call.change('createScreen', { body: { venueId, name, labels } });
    if (made) await call.results.record(made.answer, screensOfVenueView(call, venueId));
  },
});
