import { readContexts } from '../api/contexts.ts';
import { forgetContext, requireContext } from '../api/forget-context.ts';
import { defineCommand, optional } from '../command/spec.ts';
import { usage } from '../options/settings.ts';

export const command = defineCommand({
  summary: 'Forget the token of a service',
  description:
    'Deletes the context, the current one unless one is named. Nothing is told to the service, which knows the token still.',
  arguments: { context: optional('its name', 'context') },
  examples: [
    ['signage logout', 'of the current context'],
    ['signage logout work', 'of another'],
  ],
  effect: 'changes',
  local: true,
  async run(call) {
    const saved = await readContexts(call.io);
    const name = call.args.context ?? (call.io.env.SIGNAGE_CONTEXT || saved.current);
    if (name === undefined)
      throw usage('There is no current context to log out of.', 'signage context list');
    requireContext(saved, name);
    await forgetContext(call, name);
    if (call.io.env.SIGNAGE_TOKEN) call.note('SIGNAGE_TOKEN is set, and is used still.');
  },
});
