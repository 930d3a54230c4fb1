import { pause } from '../../client/pause.ts';
import { SignageError } from '../../domain/error.ts';
import type { Context } from '../command/environment.ts';

interface Waiting {
  timeoutMs: number;
  /** What is waited for, as the end of a sentence: `the screen "Lobby/Main" to be active`. */
  what: string;
  everyMs?: number;
}

/**
 * Looks again and again until there is something, and answers it. Throws `wait_timed_out` (exit code 8) when the time is over, and
 * `interrupted` at a signal.
 */
export async function waitUntil<T>(
  { clock, interrupted }: Context,
  { timeoutMs, what, everyMs = 1000 }: Waiting,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const endsAt = clock.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    const leftMs = endsAt - clock.now();
    if (leftMs <= 0)
      throw new SignageError(
        'wait_timed_out',
        `Waited ${Math.round(timeoutMs / 1000)} s for ${what}, in vain.`,
      );
    await pause(clock, Math.min(everyMs, leftMs), interrupted);
    if (interrupted.aborted)
      throw new SignageError('interrupted', `Interrupted while waiting for ${what}.`);
  }
}
