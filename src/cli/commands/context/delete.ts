import { readContexts } from '../../api/contexts.ts';
import { forgetContext, requireContext } from '../../api/forget-context.ts';
import { defineCommand, one } from '../../command/spec.ts';

export const command = defineCommand({
  summary: 'Delete a saved context and its token',
  arguments: { context: one('its name', 'context') },
  examples: [
    ['signage context delete work', 'asks first'],
    ['signage context delete work --yes', 'does not ask first'],
  ],
  effect: 'destroys',
  local: true,
  async run(call) {
    const name = call.args.context;
    requireContext(await readContexts(call.io), name);
    await call.confirmDestruction(`Delete the context "${name}" and its token?`);
    await forgetContext(call, name);
  },
});
