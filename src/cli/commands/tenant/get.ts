import { defineCommand, one } from '../../command/spec.ts';
import { findTenant } from '../../records/find.ts';
import { tenantView } from '../../records/views/place-views.ts';

export const command = defineCommand({
  summary: 'Show a tenant',
  arguments: { tenant: one('its id or name', 'tenant') },
  examples: [
    ['signage tenant get Acme', 'by its name'],
    ['signage tenant get Acme -o json --jq .id', 'its id alone'],
  ],
  operation: 'getTenant',
  effect: 'reads',
  async run(call) {
    await call.results.record(await findTenant(call, call.args.tenant), tenantView);
  },
});
