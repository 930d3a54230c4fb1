import { type Clock, type Random, systemClock, systemRandom } from '../domain/clock.ts';
import { hasCode } from '../domain/error.ts';
import { watchInterruption } from './command/signals.ts';
import { runProgram } from './program.ts';
import type { Io } from './terminal/io.ts';

const interruptedExitCode = 130;

/** Time and chance, unless they are those of the machine. */
interface World {
  clock?: Clock;
  random?: Random;
}

/**
 * Runs one command line and answers its exit code (see `exit-code.ts`). Prints to `io` only, and never ends the process.
 *
 * @example process.exitCode = await main(['serve', '--port', '0'], processIo())
 */
export async function main(
  argv: readonly string[],
  io: Io,
  { clock = systemClock, random = systemRandom }: World = {},
): Promise<number> {
  const interruption = watchInterruption(io);
  const context = {
    io,
    clock,
    random,
    interrupted: interruption.signal,
    heedHangup: interruption.heedHangup,
  };
  try {
    return await Promise.race([runProgram(argv, context), interruption.second]);
  } catch (error) {
    if (hasCode(error, 'interrupted'))
      return Number(interruption.signal.reason) || interruptedExitCode;
    const { reportError: tellError } = await import('./command/report-error.ts');
    return tellError(error, argv, io);
  } finally {
    interruption.stop();
  }
}
