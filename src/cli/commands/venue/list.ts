import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { venueView } from '../../records/views/place-views.ts';

export const command = defineCommand({
  summary: 'List venues',
  options: { search: option.text('--search <text>', 'only names that contain this text') },
  examples: [
    ['signage venue list', 'all'],
    [
      'signage venue list --search berlin -o wide',
      'venues by part of their name, with all columns',
    ],
    ['signage venue list -o name', 'only the names, one per line'],
  ],
  operation: 'listVenues',
  effect: 'reads',
  list: true,
  async run(call) {
    const { search } = call.options;
    await call.list('listVenues', venueView, {
      query: { ...(search !== undefined && { search }) },
    });
  },
});
