import { defineCommand, one } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { findTenant } from '../../records/find.ts';
import { tenantView } from '../../records/views/place-views.ts';

export const command = defineCommand({
  summary: 'Change a tenant',
  arguments: { tenant: one('its id or name', 'tenant') },
  options: { name: option.required('--name <name>', 'the new name') },
  examples: [['signage tenant update Acme --name "Acme Media"', 'a new name']],
  operation: 'updateTenant',
  effect: 'changes',
  async run(call) {
    const { id } = await findTenant(call, call.args.tenant);
    const made = await call.change('updateTenant', {
      params: { id },
      body: { name: call.options.name },
    });
    if (made) await call.results.record(made.answer, tenantView);
  },
});
