import { defineCommand } from '../../command-spec.ts';
import * as option from '../../option.ts';
import { tokenView } from '../../views/token-view.ts';

export const command = defineCommand({
  summary: 'List management tokens',
  options: { search: option.text('--search <text>', 'those with this in their name') },
  examples: [
    ['signage token list', 'all of them; never the tokens themselves'],
    ['signage token list -o json --jq ".[] | select(.lastUsedAt == null) | .name"', 'those that nobody used yet'],
  ],
  operation: 'listTokens',
  effect: 'reads',
  list: true,
  async run(call) {
    const { search } = call.options;
    await call.list('listTokens', tokenView, { query: { ...(search !== undefined && { search }) } });
  },
});
