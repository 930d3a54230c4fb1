import { makeProgram, ParsingStopped, refuseUnknown, showSharedOptions } from './program/parser.ts';
import type { ProgramEnvironment } from './terminal/environment.ts';
import { tree } from './tree.ts';

/** Replaces the words `help` and `version` by options. */
function inOptions(argv: readonly string[]): string[] {
  if (argv[0] === 'help') return [...argv.slice(1), '--help'];
  return argv[0] === 'version' ? ['--version'] : [...argv];
}

/** Makes the error for a command line that commander refuses. */
async function explained(stopped: ParsingStopped, words: readonly string[]): Promise<Error> {
  // Loaded on demand: only mistakes need them.
  const [{ explainMistake }, { meantCommand }] = await Promise.all([
    import('./program/explain-mistake.ts'),
    import('./meant-command.ts'),
  ]);
  const { command, reason } = stopped;
  const isUnknown = reason.code === 'commander.unknownCommand';
  return explainMistake(stopped, words, isUnknown ? await meantCommand(command) : undefined);
}

/** Runs a command line and returns the exit code. Throws the error of a command that fails. */
export async function runProgram(
  argv: readonly string[],
  environment: ProgramEnvironment,
): Promise<number> {
  if (argv[0] === 'help' && argv[1] === 'options') {
    showSharedOptions(environment.io);
    return 0;
  }
  let exitCode = 0;
  const { root } = makeProgram(tree, environment.io, async (spec, command) => {
    // Loaded on demand: help and the version do not need it.
    const { runSpec } = await import('./program/run.ts');
    const given = { given: command.processedArgs, flags: command.opts() };
    exitCode = await runSpec(spec, given, environment);
  });
  const words = inOptions(argv);
  refuseUnknown(root, words[0]);
  try {
    await root.parseAsync(words, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof ParsingStopped)) throw error;
    if (error.reason.exitCode === 0) return 0;
    // A command was given without the required word, so commander printed its help.
    if (error.reason.code === 'commander.help') return 2;
    throw await explained(error, argv);
  }
}
