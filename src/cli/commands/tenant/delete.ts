import { defineCommand, one } from '../../command/spec.ts';
import { findTenant } from '../../records/find.ts';

export const command = defineCommand({
  summary: 'Delete a tenant without venues, and its tokens',
  arguments: { tenant: one('its id or name', 'tenant') },
  examples: [
    ['signage tenant delete Acme', 'asks first'],
    ['signage tenant delete Acme --yes', 'for scripts: does not ask first'],
  ],
  operation: 'deleteTenant',
  effect: 'destroys',
  hints: { tenant_not_empty: 'Delete its venues first: signage venue list --tenant {tenant}' },
  async run(call) {
    const { id, name } = await findTenant(call, call.args.tenant);
    await call.confirmDestruction(`Delete the tenant "${name}" and its tokens?`);
    const made = await call.change('deleteTenant', { params: { id } });
    if (made) call.note(`Deleted the tenant "${name}".`);
  },
});
