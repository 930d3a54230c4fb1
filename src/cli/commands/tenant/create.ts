import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { tenantView } from '../../records/views/tenant-view.ts';

export const command = defineCommand({
  summary: 'Make a tenant',
  options: { name: option.needed('--name <name>', 'what people call it; unique in the service') },
  examples: [
    ['signage tenant create --name Acme', 'the name is all there is to it'],
    ['signage tenant create --name Acme -o json --jq .id', 'for scripts: prints the id alone'],
  ],
  operation: 'createTenant',
  effect: 'changes',
  hints: { name_taken: 'It is there already: signage tenant get {name}' },
  async run(call) {
    const made = await call.change('createTenant', { body: { name: call.options.name } });
    if (made) await call.results.record(made.answer, tenantView);
  },
});
