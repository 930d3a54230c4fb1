import { pause } from '../../client/pause.ts';
import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../program/context.ts';
import type { Environment } from '../terminal/environment.ts';
import { withProgress } from '../terminal/progress.ts';

interface WaitOptions {
  timeoutMs: number;
  /** The condition, as the end of a sentence: `the screen "Lobby/Main" to be active`. */
  what: string;
  /** Time between two checks, in milliseconds. Default: 1000. */
  everyMs?: number;
}

/**
 * Polls `check` until it returns a value. Returns `undefined` on timeout. Throws `interrupted` on a
 * signal.
 */
export async function poll<T>(
  { clock, interrupted }: Pick<Environment, 'clock' | 'interrupted'>,
  { timeoutMs, what, everyMs = 1000 }: WaitOptions,
  check: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const endsAt = clock.now() + timeoutMs;
  for (;;) {
    const found = await check();
    if (found !== undefined) return found;
    const remainingMs = endsAt - clock.now();
    if (remainingMs <= 0) return undefined;
    await pause(clock, Math.min(everyMs, remainingMs), interrupted);
    if (interrupted.aborted)
      throw new SignageError('interrupted', `Interrupted while waiting for ${what}.`);
  }
}

/** What one look found. `found` is `undefined` while a record is not in the wanted state. */
export interface Looked<T> {
  found: T | undefined;
  /** The present state, as a clause such as `it is provisioning`. */
  saw: string;
}

/**
 * Looks until it has found what it waits for, and shows the state as progress. Throws
 * `wait_timed_out` (exit code 8) with the state and `hint`, and `interrupted` on a signal.
 */
export async function waitFor<T>(
  call: CommandContext,
  { hint, ...waiting }: WaitOptions & { hint: string },
  look: () => Promise<Looked<T>>,
): Promise<T> {
  const { timeoutMs, what } = waiting;
  let last = '';
  const found = await withProgress(call, (show) => {
    show(`Waiting for ${what} …`);
    return poll(call, waiting, async () => {
      const { found, saw } = await look();
      last = saw;
      if (found === undefined) show(`Waiting for ${what}: ${saw} …`);
      return found;
    });
  });
  if (found !== undefined) return found;
  const message = `Timed out after ${Math.round(timeoutMs / 1000)} s waiting for ${what}: ${last}.`;
  throw new SignageError('wait_timed_out', message, { hint });
}
