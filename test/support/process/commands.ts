import type { CommandSpec } from '../../../src/cli/program/spec.ts';
import { loadSingle, loadVerbs, nouns, single } from '../../../src/cli/tree.ts';

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
  for (const word of Object.keys(single)) {
    const spec = await loadSingle(word);
    if (spec) commands.push({ path: [word], name: word, spec });
  }
  for (const noun of Object.keys(nouns)) {
    for (const [verb, spec] of Object.entries((await loadVerbs(noun)) ?? {}))
      commands.push({ path: [noun, verb], name: `${noun} ${verb}`, spec });
  }
  return commands;
}
