import { type Command, Option } from 'commander';

/** Flags that people expect, and the flags of the commands that have the same meaning. */
const sameValue: readonly (readonly [alias: string, name: string])[] = [
  ['from', 'since'],
  ['since', 'from'],
  ['to', 'until'],
  ['until', 'to'],
];

/** The alias of `-o json`. */
export const jsonAlias = '--json';

/**
 * Adds the aliases of the command's options: `--json` means `-o json`, `--from` means `--since`.
 * Help, completion and suggestions do not name them.
 */
export function addAliases(command: Command): void {
  const has = (name: string) => command.options.some(({ long }) => long === `--${name}`);
  for (const [alias, name] of sameValue.filter(([alias, name]) => has(name) && !has(alias)))
    command
      .addOption(new Option(`--${alias} <time>`).hideHelp())
      .on(`option:${alias}`, (value) => command.setOptionValue(name, value));
  if (has('output'))
    command.addOption(new Option(jsonAlias).hideHelp().implies({ output: 'json' }));
}
