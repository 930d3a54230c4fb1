import { type Clock, type Random, systemClock, systemRandom } from '../domain/clock.ts';
import { hasCode } from '../domain/error.ts';
import { watchInterruption } from './command/signals.ts';
import { runProgram } from './program.ts';
import type { Io } from './terminal/io.ts';

export { processIo } from './terminal/io.ts';

const interruptedExitCode = 130;

/** Replacements for the clock and the random numbers of the machine. */
interface MainOptions {
  clock?: Clock;
  random?: Random;
}

/**
 * Runs one command line and returns its exit code (see `exit-code.ts`). Prints only to `io`, and
 * never ends the process.
 *
 * @example process.exitCode = await main(['serve', '--port', '0'], processIo())
 */
export async function main(
  argv: readonly string[],
  io: Io,
  { clock = systemClock, random = systemRandom }: MainOptions = {},
): Promise<number> {
  const interruption = watchInterruption(io);
  const environment = {
    io,
    clock,
    random,
    interrupted: interruption.signal,
    heedHangup: interruption.heedHangup,
  };
  try {
    return await Promise.race([runProgram(argv, environment), interruption.second]);
  } catch (error) {
    if (hasCode(error, 'interrupted'))
      return Number(interruption.signal.reason) || interruptedExitCode;
    const { reportError } = await import('./command/report-error.ts');
    return reportError(error, argv, io);
  } finally {
    interruption.stop();
  }
}
