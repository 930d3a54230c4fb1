import { type Clock, type Random, systemClock, systemRandom } from '../domain/clock.ts';
import { hasCode } from '../domain/error.ts';
import { watchInterruption } from './program/signals.ts';
import { runProgram } from './run-program.ts';
import { escapedIo, type Io } from './terminal/io.ts';

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
  unescapedIo: Io,
  { clock = systemClock, random = systemRandom }: MainOptions = {},
): Promise<number> {
  const io = escapedIo(unescapedIo);
  const interruption = watchInterruption(io);
  const environment = {
    io,
    clock,
    random,
    interrupted: interruption.signal,
    heedHangup: interruption.heedHangup,
  };
  const failed = async (error: unknown) => {
    if (hasCode(error, 'interrupted'))
      return Number(interruption.signal.reason) || interruptedExitCode;
    const { reportError } = await import('./program/report-error.ts');
    return reportError(error, argv, io);
  };
  const whole = async () => {
    let exitCode: number;
    try {
      exitCode = await runProgram(argv, environment);
    } catch (error) {
      exitCode = await failed(error);
      if (hasCode(error, 'not_written')) return exitCode;
    }
    // Somebody who interrupts waits for no slow reader.
    for (const stream of interruption.signal.aborted ? [] : [io.stdout, io.stderr]) {
      const unwritten = await stream.written?.().catch(failed);
      if (unwritten !== undefined) return exitCode || unwritten;
    }
    return exitCode;
  };
  try {
    return await Promise.race([whole(), interruption.second]);
  } finally {
    interruption.stop();
  }
}
