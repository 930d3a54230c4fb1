import type { CommandSpec } from './spec.ts';
import type { CommandPath } from './tree.ts';

/** Loads one command of the tree: `commands/<noun>/<verb>.ts`, or `commands/<word>.ts`. Never called with words that are not from there. */
export async function loadCommand([noun, verb]: CommandPath): Promise<CommandSpec> {
  // Written as templates, so that tools see which files there may be.
  const module: unknown = await (verb === undefined
    ? import(`../commands/${noun}.ts`)
    : import(`../commands/${noun}/${verb}.ts`));
  return (module as { command: CommandSpec }).command;
}
