import { SignageError } from '../../../domain/error.ts';
import {
  type Contexts,
  changeContexts,
  hasOnlyPlatformToken,
  readContexts,
  requireContext,
  type SavedContext,
} from '../../connection/contexts.ts';
import * as option from '../../input/option.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand, one, optional } from '../../program/spec.ts';
import { type ContextRow, contextView, identityView } from '../../records/views/access-views.ts';

/**
 * Asks before the only saved copy of a platform token is deleted. Throws `declined` when the answer
 * is no, or when it cannot ask.
 */
async function confirmLoss(call: CommandContext, saved: Contexts, name: string): Promise<void> {
  const { yes, dryRun } = call.common;
  if (yes || dryRun) return;
  const { url } = saved.contexts[name] as SavedContext;
  const loss = `The context "${name}" has the only saved copy of a platform token of ${url}.`;
  const wayBack =
    'Without it, the way back in is a new start of the service with --new-admin-token.';
  if (!call.prompter.canAsk)
    throw new SignageError('declined', `${loss} Nothing was deleted.`, {
      hint: `${wayBack} Give --yes to delete it.`,
    });
  call.note(`${loss} ${wayBack}`);
  await call.confirmDestruction(`Delete the context "${name}" and its token?`);
}

/** Deletes a context and its token from the file. */
async function forgetContext(call: CommandContext, name: string): Promise<void> {
  if (call.common.dryRun) return call.note(`Would delete the context "${name}".`);
  await changeContexts(call.io, (saved) => {
    requireContext(saved, name);
    delete saved.contexts[name];
    if (saved.current === name) delete saved.current;
  });
  call.note(
    `Deleted the context "${name}" with its token. The token still works: signage token delete revokes it.`,
  );
}

const list = defineCommand({
  summary: 'List the saved contexts',
  description: 'Tokens are never shown.',
  examples: [
    ['signage context list', 'all'],
    ['signage context list --jq ".[] | select(.current).url"', 'the service that commands use'],
  ],
  local: true,
  async run(call) {
    const { contexts, current } = await readContexts(call.io);
    const rows = Object.entries(contexts).map(([name, { url, tenant }]): ContextRow => {
      return { name, current: name === current, url, tenantId: tenant ?? null };
    });
    await call.results.list([rows], contextView);
  },
});

const use = defineCommand({
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

export const context = { list, use };

export const login = defineCommand({
  summary: 'Save the token of a service',
  description: `At a terminal, asks for the token without showing it. In scripts, use --token-stdin
or --token-file. Never put the token in the command line: everyone on this machine could read it.
The token is checked, then saved in a file that only you can read. Later commands use it. --context
names the saved context. Default: the host name. The token is sent only to this service. --device
needs no token: it shows a code, and waits until an admin gives this login a token with signage token
approve. It then shows the tenant and what the token may do, and asks before it saves it. --tenant
with an id refuses the admins of all other tenants.`,
  options: {
    tokenStdin: option.flag('--token-stdin', 'read the token from stdin'),
    device: option.flag('--device', 'show a code, and wait until an admin approves it'),
  },
  examples: [
    ['signage login', 'asks for the service and the token'],
    ['signage login --url https://signage.example.com --context work', 'asks for the token'],
    ['signage login --url https://signage.example.com --token-stdin < token.txt', 'for scripts'],
    ['signage login --url https://signage.example.com --device', 'an admin approves the code'],
  ],
  hints: { login_not_found: 'Nothing was saved. Run the command again: it shows a new code.' },
  run: async (call) => (await import('./login.ts')).logIn(call, call.options),
});

export const logout = defineCommand({
  summary: 'Delete the saved token of a service',
  description: `Deletes a saved context. Default: the current one. Asks first if the context has the
only saved copy of a platform token. The token itself stays valid; signage token delete ends it.`,
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
    if (hasOnlyPlatformToken(saved, name)) await confirmLoss(call, saved, name);
    await forgetContext(call, name);
    if (call.io.env.SIGNAGE_TOKEN) call.note('SIGNAGE_TOKEN is set and is still used.');
  },
});

export const whoami = defineCommand({
  summary: 'Show which token and which service commands use',
  examples: [
    ['signage whoami', 'the current token'],
    ['signage whoami --context work -o json --jq .role', 'for scripts: prints the role alone'],
  ],
  async run(call) {
    const { context, url, token } = await call.profile();
    const me = await call.read('getMe');
    const sources = {
      context: context ?? null,
      url: url.value,
      urlSource: url.source,
      tokenSource: token?.source ?? 'none',
    };
    const identity = { ...me, ...sources };
    await call.results.record(identity, identityView(call, identity, call.clock.now()));
  },
});
