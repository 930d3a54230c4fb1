import type { CommandSpec } from './spec.ts';
import type { CommandPath } from './tree.ts';

/**
 * Loads a command of the tree: `commands/<noun>/<verb>.ts` or `commands/<word>.ts`. The path must
 * come from the tree, never from the user.
 */
export async function loadCommand([noun, verb]: CommandPath): Promise<CommandSpec> {
  // Template strings, so that tools can find the possible files.
  const module: unknown = await (verb === undefined
    ? import(`../commands/${noun}.ts`)
    : import(`../commands/${noun}/${verb}.ts`));
  return (module as { command: CommandSpec }).command;
}
