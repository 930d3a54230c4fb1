import { readFile } from 'node:fs/promises';
import type { ProgramEnvironment } from './command/environment.ts';
import { loadCommand } from './command/load.ts';
import { plainArguments } from './command/plain-arguments.ts';
import { type Facts, printHelp, printVersion } from './command/print-help.ts';
import { type CommandRoute, route } from './command/route.ts';
import { runSpec } from './command/run.ts';

/** Reads the facts from the source. `bin/signage.js` reads them from files of the build. */
const facts: Facts = {
  async version() {
    const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    return (JSON.parse(text) as { version: string }).version;
  },
  describe: loadCommand,
};

async function runCommand(
  { path, words }: CommandRoute,
  environment: ProgramEnvironment,
): Promise<number> {
  const spec = await loadCommand(path);
  const plain = plainArguments(spec, words);
  if (plain) return runSpec(spec, { given: plain, flags: {} }, environment);
  // Loaded on demand: commander is slow to load.
  const { parseCommand } = await import('./command/parse.ts');
  return runSpec(
    spec,
    parseCommand(['signage', ...path].filter(Boolean).join(' '), spec, words),
    environment,
  );
}

/** Runs a command line and returns the exit code. Throws the error of a command that fails. */
export async function runProgram(
  argv: readonly string[],
  environment: ProgramEnvironment,
): Promise<number> {
  const destination = route(argv);
  switch (destination.to) {
    case 'version':
      return printVersion(environment.io, facts);
    case 'help':
      return printHelp(destination, environment.io, facts);
    case 'command':
      return runCommand(destination, environment);
    case 'nowhere':
      throw (await import('./command/parse.ts')).unknownWord(destination);
  }
}
