import { readFile } from 'node:fs/promises';
import type { Environment } from './command/environment.ts';
import { loadCommand } from './command/load.ts';
import { plainArguments } from './command/plain-arguments.ts';
import { type Facts, printHelp, printVersion } from './command/print-help.ts';
import { type CommandAsked, route } from './command/route.ts';
import { runSpec } from './command/run.ts';

/** From the program itself, where bin/signage.js has them written down. */
const facts: Facts = {
  async version() {
    const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    return (JSON.parse(text) as { version: string }).version;
  },
  describe: loadCommand,
};

async function runCommand({ path, words }: CommandAsked, context: Environment): Promise<number> {
  const spec = await loadCommand(path);
  const plain = plainArguments(spec, words);
  if (plain) return runSpec(spec, { given: plain, flags: {} }, context);
  // commander takes a while to load.
  const { parseCommand } = await import('./command/parse.ts');
  return runSpec(
    spec,
    parseCommand(['signage', ...path].filter(Boolean).join(' '), spec, words),
    context,
  );
}

/** Runs a command line; answers the exit code. What goes wrong is thrown. */
export async function runProgram(argv: readonly string[], context: Environment): Promise<number> {
  const asked = route(argv);
  switch (asked.to) {
    case 'version':
      return printVersion(context.io, facts);
    case 'help':
      return printHelp(asked, context.io, facts);
    case 'command':
      return runCommand(asked, context);
    case 'nowhere':
      throw (await import('./command/parse.ts')).unknownWord(asked);
  }
}
