import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { tokensView } from '../../records/views/access-views.ts';

export const command = defineCommand({
  summary: 'List management tokens',
  description: 'The column EXPIRES shows "soon" for tokens that expire within 7 days.',
  options: { search: option.text('--search <text>', 'only names that contain this text') },
  examples: [
    ['signage token list', 'all tokens, without their secrets'],
    [
      'signage token list -o json --jq ".[] | select(.lastUsedAt == null) | .name"',
      'tokens that were never used',
    ],
    [
      `signage token list -o json --jq '.[] | select(.expiresAt != null and .expiresAt < "2026-12-01") | .name'`,
      'tokens that expire before December',
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
