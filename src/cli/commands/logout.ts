import { readContexts } from '../api/contexts.ts';
import { forgetContext, requireContext } from '../api/forget-context.ts';
import { defineCommand, optional } from '../command/spec.ts';
import { usage } from '../options/settings.ts';

export const command = defineCommand({
  summary: 'Delete the saved token of a service',
  description: `Deletes a saved context. Default: the current one. The token itself stays valid;
signage token delete ends it.`,
  arguments: { context: optional('its name', 'context') },
  examples: [
    ['signage logout', 'deletes the current context'],
    ['signage logout work', 'deletes another context'],
  ],
  effect: 'changes',
  local: true,
  async run(call) {
    const saved = await readContexts(call.io);
    const name = call.args.context ?? (call.io.env.SIGNAGE_CONTEXT || saved.current);
    if (name === undefined) throw usage('There is no current context.', 'signage context list');
    requireContext(saved, name);
    await forgetContext(call, name);
    if (call.io.env.SIGNAGE_TOKEN) call.note('SIGNAGE_TOKEN is set and is still used.');
  },
});
