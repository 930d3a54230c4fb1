import { hasCode } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { limitPages } from './results.ts';
import type { ViewSource } from './view.ts';

/**
 * Prints the pages of `--follow` as they arrive, until stdout closes or `--limit` is reached.
 * `follow` must throw `interrupted` when its signal aborts. Throws `interrupted` if the command is
 * interrupted.
 */
export async function printFollowed<T>(
  call: CommandContext,
  follow: (signal: AbortSignal) => AsyncIterable<readonly T[]>,
  view: ViewSource<T>,
): Promise<void> {
  const { limit } = call.common;
  if (limit === undefined) call.results.requireEndless('--follow');
  const { gone } = call.io.stdout;
  const signal = gone ? AbortSignal.any([call.interrupted, gone]) : call.interrupted;
  try {
    await call.results.list(limitPages(follow(signal), limit), view);
  } catch (error) {
    if (!gone?.aborted || !hasCode(error, 'interrupted')) throw error;
  }
}
