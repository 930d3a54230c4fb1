import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { tenantView } from '../../records/views/tenant-view.ts';

export const command = defineCommand({
  summary: 'List tenants',
  options: { search: option.text('--search <text>', 'those with this in their name') },
  examples: [
    ['signage tenant list', 'all of them'],
    ['signage tenant list -o name', 'names as --tenant takes them'],
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
