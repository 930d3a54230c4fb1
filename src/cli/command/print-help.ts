import type { Io } from '../terminal/io.ts';
import { helpText } from './help.ts';
import type { HelpAsked } from './route.ts';
import type { Description } from './spec.ts';
import type { CommandPath } from './tree.ts';

/** What the program knows of itself. */
export interface Facts {
  version(): string | Promise<string>;
  describe(path: CommandPath): Description | Promise<Description>;
}

/** Tells the version; answers the exit code. */
export async function printVersion(
  { stdout }: Pick<Io, 'stdout'>,
  { version }: Facts,
): Promise<number> {
  stdout.write(`${await version()}\n`);
  return 0;
}

/** Shows help; answers the exit code. Help that was asked for is a result; help because something is missing is an error. */
export async function printHelp(
  { of, wanted }: HelpAsked,
  { stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>,
  facts: Facts,
): Promise<number> {
  const output = wanted ? stdout : stderr;
  output.write(await helpText(of, facts.describe, output.columns));
  return wanted ? 0 : 2;
}
