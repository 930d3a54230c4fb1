import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { tokensView } from '../../records/views/token-view.ts';

export const command = defineCommand({
  summary: 'List management tokens',
  description: 'EXPIRES says "soon" of those that end within 7 days.',
  options: { search: option.text('--search <text>', 'those with this in their name') },
  examples: [
    ['signage token list', 'all of them; never the tokens themselves'],
    [
      'signage token list -o json --jq ".[] | select(.lastUsedAt == null) | .name"',
      'those that nobody used yet',
    ],
    [
      `signage token list -o json --jq '.[] | select(.expiresAt != null and .expiresAt < "2026-12-01") | .name'`,
      'those that end before December',
    ],
  ],
  operation: 'listTokens',
  effect: 'reads',
  list: true,
  async run(call) {
    const { search } = call.options;
    await call.list('listTokens', tokensView(call), {
      query: { ...(search !== undefined && { search }) },
    });
  },
});
