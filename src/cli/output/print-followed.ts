import { hasCode } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { limitPages } from './results.ts';
import type { ViewSource } from './view.ts';

/**
 * Prints the pages of `--follow` as they arrive. `follow` ends when its signal aborts. Ends when
 * interrupted, when stdout closes, or at `--limit`.
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
