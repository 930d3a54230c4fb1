import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { type Contexts, changeContexts } from './contexts.ts';

/** Throws `context_not_found` unless there is a context of that name. */
export function requireContext({ contexts }: Contexts, name: string): void {
  if (contexts[name] !== undefined) return;
  throw new SignageError('context_not_found', `There is no context "${name}".`, {
    hint: 'signage context list shows those there are.',
  });
}

/** Deletes a context, with its token. */
export async function forgetContext(call: CommandContext, name: string): Promise<void> {
  if (call.common.dryRun) return call.note(`Would delete the context "${name}".`);
  await changeContexts(call.io, (saved) => {
    requireContext(saved, name);
    delete saved.contexts[name];
    if (saved.current === name) delete saved.current;
  });
  call.note(
    `Deleted the context "${name}", with its token. The service knows the token still: signage token delete ends it.`,
  );
}
