import { randomBytes } from 'node:crypto';
import { systemClock } from '../domain/clock.ts';
import { hasCode, SignageError } from '../domain/error.ts';
import { exitCodeOf } from './exit-code.ts';
import { watchInterruption } from './interruption.ts';
import type { Io } from './io.ts';
import { printable } from './print.ts';
import { runProgram } from './program.ts';

/** What to try next, in the words of the command line. */
const hints: Record<string, string> = {
  port_taken: 'Choose another port with --port, or --port 0 for any that is free.',
  unreachable: '--url says where the service is; signage serve starts one.',
  credential_invalid: 'SIGNAGE_TOKEN or --token-file must hold a management token of this service.',
  tenant_required: '--tenant names it.',
};

function explain(error: SignageError, io: Io): void {
  io.stderr.write(`signage: ${printable(error.message)}\n`);
  for (const { path, message } of error.errors ?? []) io.stderr.write(`  ${printable(path || 'body')}: ${printable(message)}\n`);
  if (error.retryAfterSeconds !== undefined) io.stderr.write(`  Worth trying again in ${error.retryAfterSeconds} s.\n`);
  const hint = hints[error.code];
  if (hint !== undefined) io.stderr.write(`  ${hint}\n`);
}

/** A mistake of ours, or of the machine: with the way it took, for whoever looks into it. */
function explainUnexpected(error: unknown, io: Io): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  io.stderr.write(`signage: something unexpected happened.\n${text.split('\n').map(printable).join('\n')}\n`);
}

/**
 * Runs one command line and answers its exit code (see `exitCodeOf`). Prints to `io` only, and never ends the process.
 *
 * @example process.exitCode = await main(['serve', '--port', '0'], processIo())
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const interruption = watchInterruption(io);
  const context = { io, clock: systemClock, random: randomBytes, interrupted: interruption.signal };
  try {
    return await Promise.race([runProgram(argv, context), interruption.second]);
  } catch (error) {
    if (hasCode(error, 'interrupted')) return Number(interruption.signal.reason) || 1;
    if (error instanceof SignageError) explain(error, io);
    else explainUnexpected(error, io);
    return exitCodeOf(error);
  } finally {
    interruption.stop();
  }
}
