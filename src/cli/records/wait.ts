import { pause } from '../../client/pause.ts';
import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import type { Environment } from '../command/environment.ts';
import { withProgress } from '../terminal/progress.ts';

interface Waiting {
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
  { clock, interrupted }: Environment,
  { timeoutMs, what, everyMs = 1000 }: Waiting,
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

const timedOut = ({ timeoutMs, what }: Waiting) =>
  `Timed out after ${Math.round(timeoutMs / 1000)} s waiting for ${what}`;

/**
 * Polls `check` until it returns a value, and returns that value. Throws `wait_timed_out` (exit
 * code 8) on timeout, and `interrupted` on a signal.
 */
export async function waitUntil<T>(
  environment: Environment,
  waiting: Waiting,
  check: () => Promise<T | undefined>,
): Promise<T> {
  const found = await poll(environment, waiting, check);
  if (found === undefined) throw new SignageError('wait_timed_out', `${timedOut(waiting)}.`);
  return found;
}

interface Status<T> {
  found: T | undefined;
  /** The present state, as a clause such as `it is provisioning`. */
  saw: string;
}

/**
 * Like `waitUntil`, but shows the state as progress. The error on timeout contains the state and
 * `hint`.
 */
export async function waitFor<T>(
  call: CommandContext,
  { hint, ...waiting }: Waiting & { hint: string },
  check: () => Promise<Status<T>>,
): Promise<T> {
  let last = '';
  const found = await withProgress(call, (show) =>
    poll(call, waiting, async () => {
      const { found, saw } = await check();
      last = saw;
      show(`Waiting for ${waiting.what}: ${saw} …`);
      return found;
    }),
  );
  if (found !== undefined) return found;
  throw new SignageError('wait_timed_out', `${timedOut(waiting)}: ${last}.`, { hint });
}
