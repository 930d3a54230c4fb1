import type { Io } from '../terminal/io.ts';
import { helpText } from './help.ts';
import type { HelpRoute } from './route.ts';
import type { Description } from './spec.ts';
import type { CommandPath } from './tree.ts';

/** The version of the program and the descriptions of its commands. */
export interface Facts {
  version(): string | Promise<string>;
  describe(path: CommandPath): Description | Promise<Description>;
}

/** Prints the version. Returns the exit code. */
export async function printVersion(
  { stdout }: Pick<Io, 'stdout'>,
  { version }: Facts,
): Promise<number> {
  stdout.write(`${await version()}\n`);
  return 0;
}

/**
 * Prints help and returns the exit code: to stdout with 0 when the user requested it, to stderr
 * with 2 when a word is missing.
 */
export async function printHelp(
  { of, isRequested }: HelpRoute,
  { stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>,
  facts: Facts,
): Promise<number> {
  const output = isRequested ? stdout : stderr;
  output.write(await helpText(of, facts.describe, output.columns));
  return isRequested ? 0 : 2;
}
