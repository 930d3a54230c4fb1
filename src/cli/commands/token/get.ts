import { defineCommand, one } from '../../command/spec.ts';
import { findToken } from '../../records/find.ts';
import { tokenView } from '../../records/views/access-views.ts';

export const command = defineCommand({
  summary: 'Show a management token, without its secret',
  arguments: { token: one('its id or name', 'token') },
  examples: [
    ['signage token get CI', 'by its name'],
    ['signage token get CI -o json --jq .lastUsedAt', 'one field'],
  ],
  operation: 'getToken',
  effect: 'reads',
  async run(call) {
    const token = await findToken(call, call.args.token);
    await call.results.record(token, tokenView(call, token));
  },
});
