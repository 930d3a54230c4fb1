import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { venueView } from '../../records/views/venue-view.ts';

export const command = defineCommand({
  summary: 'List venues',
  options: { search: option.text('--search <text>', 'those with this in their name') },
  examples: [
    ['signage venue list', 'all of them'],
    ['signage venue list --search berlin -o wide', 'some of them, with all there is'],
    ['signage venue list -o name', 'only the names, one a line'],
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
