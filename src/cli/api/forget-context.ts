import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { type Contexts, changeContexts } from './contexts.ts';

/** Throws `context_not_found` if the context does not exist. */
export function requireContext({ contexts }: Contexts, name: string): void {
  if (contexts[name] !== undefined) return;
  throw new SignageError('context_not_found', `There is no context "${name}".`, {
    hint: 'signage context list shows all contexts.',
  });
}

/** Deletes a context and its token from the file. */
export async function forgetContext(call: CommandContext, name: string): Promise<void> {
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
