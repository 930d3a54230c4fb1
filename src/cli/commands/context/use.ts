import { changeContexts } from '../../api/contexts.ts';
import { requireContext } from '../../api/forget-context.ts';
import { defineCommand, one } from '../../command/spec.ts';

export const command = defineCommand({
  summary: 'Make a context the current one',
  arguments: { context: one('its name', 'context') },
  examples: [['signage context use work', 'later commands use the service of this context']],
  effect: 'changes',
  local: true,
  async run(call) {
    const name = call.args.context;
    if (call.common.dryRun) return call.note(`Would make the context "${name}" the current one.`);
    await changeContexts(call.io, (saved) => {
      requireContext(saved, name);
      saved.current = name;
    });
    call.note(`The context "${name}" is now the current one.`);
  },
});
