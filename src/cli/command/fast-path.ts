// The first file that bin/signage.js loads, bundled with its imports: see test/config/bundle.js.
import { completionScripts } from '../completion/scripts.ts';
import { type Io, processIo } from '../terminal/io.ts';
import { directOutput } from './direct-output.ts';
import { type Facts, printHelp, printVersion } from './print-help.ts';
import { type CommandRoute, route } from './route.ts';

export { processIo };

/** The output of the fast path, which writes synchronously. */
export function synchronousIo({ stdout, stderr }: Io): Pick<Io, 'stdout' | 'stderr'> {
  return { stdout: directOutput(1, stdout), stderr: directOutput(2, stderr) };
}

/** Returns the script for `signage completion bash` without further words. */
function requestedScript({
  path: [noun],
  words: [shell, ...more],
}: CommandRoute): string | undefined {
  const isScript =
    noun === 'completion' &&
    shell !== undefined &&
    more.length === 0 &&
    Object.hasOwn(completionScripts, shell);
  return isScript ? completionScripts[shell as keyof typeof completionScripts] : undefined;
}

/**
 * Fast path: prints the version, help and completion scripts without loading a command. Returns the
 * exit code, or `undefined` for every other command line.
 */
export async function runFastPath(
  argv: readonly string[],
  io: Pick<Io, 'stdout' | 'stderr'>,
  facts: Facts,
): Promise<number | undefined> {
  const destination = route(argv);
  if (destination.to === 'version') return printVersion(io, facts);
  if (destination.to === 'help') return printHelp(destination, io, facts);
  const script = destination.to === 'command' ? requestedScript(destination) : undefined;
  if (script === undefined) return undefined;
  io.stdout.write(script);
  return 0;
}
