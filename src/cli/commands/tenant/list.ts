import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { tenantView } from '../../records/views/place-views.ts';

export const command = defineCommand({
  summary: 'List tenants',
  options: { search: option.text('--search <text>', 'only names that contain this text') },
  examples: [
    ['signage tenant list', 'all'],
    ['signage tenant list -o name', 'names that --tenant accepts'],
  ],
  operation: 'listTenants',
  effect: 'reads',
  list: true,
  async run(call) {
    const { search } = call.options;
    await call.list('listTenants', tenantView, {
      query: { ...(search !== undefined && { search }) },
    });
  },
});
