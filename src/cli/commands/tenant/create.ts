import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { tenantView } from '../../records/views/place-views.ts';

export const command = defineCommand({
  summary: 'Create a tenant',
  options: { name: option.required('--name <name>', 'its name, unique in the service') },
  examples: [
    ['signage tenant create --name Acme', 'a tenant with this name'],
    ['signage tenant create --name Acme -o json --jq .id', 'for scripts: prints the id alone'],
  ],
  operation: 'createTenant',
  effect: 'changes',
  hints: { name_taken: 'It already exists: signage tenant get {name}' },
  async run(call) {
    const made = await call.change('createTenant', { body: { name: call.options.name } });
    if (made) await call.results.record(made.answer, tenantView);
  },
});
