import { defineCommand, one } from '../../command/spec.ts';
import { findToken } from '../../records/find.ts';

export const command = defineCommand({
  summary: 'Delete a management token',
  description: 'Requests with this token are rejected from then on.',
  arguments: { token: one('its id or name', 'token') },
  examples: [
    ['signage token delete CI', 'asks first'],
    ['signage token delete CI --yes', 'for scripts: does not ask first'],
  ],
  operation: 'deleteToken',
  effect: 'destroys',
  async run(call) {
    const { id, name, role } = await findToken(call, call.args.token);
    const { tokenId } = await call.read('getMe');
    const own = tokenId === id ? ' You are using this token now.' : '';
    await call.confirmDestruction(`Delete the token "${name}" (${role})?${own}`);
    const made = await call.change('deleteToken', { params: { id } });
    if (made) call.note(`Deleted the token "${name}".${own}`);
  },
});
