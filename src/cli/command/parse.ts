import { Command, CommanderError, Option } from 'commander';
import type { SignageError } from '../../domain/error.ts';
import { type Setting, usage } from '../options/settings.ts';
import { commonOptionsOf } from '../options/shared.ts';
import type { Flags } from './environment.ts';
import { argumentTerm } from './help.ts';
import type { UnknownWord } from './route.ts';
import type { CommandSpec } from './spec.ts';

/** A parsed command line. */
export interface Parsed {
  /** The arguments in the order of the command's own. */
  given: readonly unknown[];
  flags: Flags;
}

function quietCommand(name: string): Command {
  const command = new Command(name).helpOption(false).helpCommand(false).exitOverride();
  return command.configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
}

function declare(command: Command, settings: Readonly<Record<string, Setting<unknown>>>): void {
  for (const { flags, repeatable } of Object.values(settings)) {
    const option = new Option(flags);
    if (repeatable)
      option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
    command.addOption(option);
  }
}

/** Turns an error of commander into `usage`, with a hint. */
function asUsage(error: unknown, called: string): unknown {
  if (!(error instanceof CommanderError)) return error;
  const text = error.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
  return usage(text.charAt(0).toUpperCase() + text.slice(1), `See ${called} --help.`);
}

/** Parses the words after a command. Throws `usage`, with a suggestion for a mistyped option. */
export function parseCommand(called: string, spec: CommandSpec, words: readonly string[]): Parsed {
  const command = quietCommand(called);
  for (const [name, argument] of Object.entries(spec.arguments ?? {}))
    command.argument(argumentTerm(name, argument));
  for (const settings of [spec.options ?? {}, ...Object.values(commonOptionsOf(spec))])
    declare(command, settings);
  let given: readonly unknown[] = [];
  try {
    command.action((...all: unknown[]) => {
      given = all.slice(0, -2);
    });
    command.parse(words, { from: 'user' });
  } catch (error) {
    throw asUsage(error, called);
  }
  return { given, flags: command.opts() };
}

/** Makes the error for an unknown command or a misplaced option, with a suggestion. */
export function unknownWord({ called, word, commands, options }: UnknownWord): SignageError {
  const command = quietCommand(called);
  for (const name of commands) command.command(name);
  for (const flags of options) command.option(flags);
  try {
    command.parse([word], { from: 'user' });
  } catch (error) {
    return asUsage(error, called) as SignageError;
  }
  return usage(`"${word}" needs a command after it.`, `See ${called} --help.`);
}
