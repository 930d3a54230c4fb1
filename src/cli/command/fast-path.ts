// What bin/signage.js loads at first, built into one small file: see test/config/bundle.js.
import { completionScripts } from '../completion/scripts.ts';
import { type Io, processIo } from '../terminal/io.ts';
import { directOutput } from './direct-output.ts';
import { type Facts, printHelp, printVersion } from './print-help.ts';
import { type CommandAsked, route } from './route.ts';

export { processIo };

/** Where that is written which is told at once. */
export function synchronousIo({ stdout, stderr }: Io): Pick<Io, 'stdout' | 'stderr'> {
  return { stdout: directOutput(1, stdout), stderr: directOutput(2, stderr) };
}

/** The script that `signage completion bash` asks for, and nothing more. */
function wantedScript({ path: [noun], words: [shell, ...more] }: CommandAsked): string | undefined {
  const isScript =
    noun === 'completion' &&
    shell !== undefined &&
    more.length === 0 &&
    Object.hasOwn(completionScripts, shell);
  return isScript ? completionScripts[shell as keyof typeof completionScripts] : undefined;
}

/**
 * Answers what needs neither the service nor a command's code: the version, help, and completion scripts. Answers the exit code, or `undefined`
 * when the program itself has to run.
 */
export async function runFastPath(
  argv: readonly string[],
  io: Pick<Io, 'stdout' | 'stderr'>,
  facts: Facts,
): Promise<number | undefined> {
  const asked = route(argv);
  if (asked.to === 'version') return printVersion(io, facts);
  if (asked.to === 'help') return printHelp(asked, io, facts);
  const script = asked.to === 'command' ? wantedScript(asked) : undefined;
  if (script === undefined) return undefined;
  io.stdout.write(script);
  return 0;
}
