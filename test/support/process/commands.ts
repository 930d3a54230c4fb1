import type { CommandSpec } from '../../../src/cli/program/spec.ts';
import { tree } from '../../../src/cli/tree.ts';

/** A command with its words: `['venue', 'list']` or `['serve']`. */
export interface NamedCommand {
  path: readonly [string, string?];
  /** Its words with spaces between them. */
  name: string;
  spec: CommandSpec;
}

/** Loads all commands, in the order of the help. */
export async function allCommands(): Promise<NamedCommand[]> {
  const commands: NamedCommand[] = [];
  for (const [word, load] of Object.entries(tree.loadSingle))
    commands.push({ path: [word], name: word, spec: await load() });
  for (const [noun, load] of Object.entries(tree.loadVerbs)) {
    for (const [verb, spec] of Object.entries(await load()))
      commands.push({ path: [noun, verb], name: `${noun} ${verb}`, spec });
  }
  return commands;
}
