import { defineCommand, one } from '../../command/spec.ts';
import { findTenant } from '../../records/find.ts';

export const command = defineCommand({
  summary: 'Delete a tenant that has no venues, with its tokens',
  arguments: { tenant: one('its id or name', 'tenant') },
  examples: [
    ['signage tenant delete Acme', 'asks first'],
    ['signage tenant delete Acme --yes', 'does not ask: for scripts'],
  ],
  operation: 'deleteTenant',
  effect: 'destroys',
  hints: { tenant_not_empty: 'Delete its venues first: signage venue list --tenant {tenant}' },
  async run(call) {
    const { id, name } = await findTenant(call, call.args.tenant);
    await call.confirmDestruction(`Delete the tenant "${name}" with its tokens?`);
    const made = await call.change('deleteTenant', { params: { id } });
    if (made) call.note(`Deleted the tenant "${name}".`);
  },
});
