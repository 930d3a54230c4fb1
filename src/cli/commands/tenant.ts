import * as option from '../input/option.ts';
import { defineCommand, one } from '../program/spec.ts';
import { findTenant } from '../records/find.ts';
import { tenantView } from '../records/views/place-views.ts';

const create = defineCommand({
  summary: 'Create a tenant',
  options: { name: option.required('--name <name>', 'its name, unique in the service') },
  examples: [
    ['signage tenant create --name Acme', 'a tenant with this name'],
    ['signage tenant create --name Acme -o json --jq .id', 'for scripts: prints the id alone'],
  ],
  effect: 'changes',
  hints: { name_taken: 'It already exists: signage tenant get {name}' },
  async run(call) {
    const made = await call.change('createTenant', { body: { name: call.options.name } });
    if (made) await call.results.record(made.answer, tenantView);
  },
});

const list = defineCommand({
  summary: 'List tenants',
  options: { search: option.text('--search <text>', 'only names that contain this text') },
  examples: [
    ['signage tenant list', 'all'],
    ['signage tenant list -o name', 'names that --tenant accepts'],
  ],
  list: true,
  async run(call) {
    await call.list('listTenants', tenantView, { query: call.options });
  },
});

const get = defineCommand({
  summary: 'Show a tenant',
  arguments: { tenant: one('its id or name', 'tenant') },
  examples: [
    ['signage tenant get Acme', 'by its name'],
    ['signage tenant get Acme -o json --jq .id', 'its id alone'],
  ],
  async run(call) {
    await call.results.record(await findTenant(call, call.args.tenant), tenantView);
  },
});

const update = defineCommand({
  summary: 'Change a tenant',
  arguments: { tenant: one('its id or name', 'tenant') },
  options: { name: option.required('--name <name>', 'the new name') },
  examples: [['signage tenant update Acme --name "Acme Media"', 'a new name']],
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

const remove = defineCommand({
  summary: 'Delete a tenant without venues, and its tokens',
  arguments: { tenant: one('its id or name', 'tenant') },
  examples: [
    ['signage tenant delete Acme', 'asks first'],
    ['signage tenant delete Acme --yes', 'for scripts: does not ask first'],
  ],
  effect: 'destroys',
  hints: { tenant_not_empty: 'Delete its venues first: signage venue list --tenant {tenant}' },
  async run(call) {
    const { id, name } = await findTenant(call, call.args.tenant);
    await call.confirmDestruction(`Delete the tenant "${name}" and its tokens?`);
    const made = await call.change('deleteTenant', { params: { id } });
    if (made) call.note(`Deleted the tenant "${name}".`);
  },
});

export const tenant = { create, list, get, update, delete: remove };
