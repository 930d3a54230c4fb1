import { SignageError } from '../../domain/error.ts';
import { member, type View } from '../output/view.ts';
import type { CommandContext } from './context.ts';
import { exitCodeOf } from './exit-code.ts';

/** What became of one item of a command that changes many. */
export interface ItemResult {
  name: string;
  id: string;
  /** What was done, in one word: `revoked`, `unchanged`, …; `failed` when it could not be. */
  result: string;
  error: string | null;
}

const view: View<ItemResult> = {
  columns: [member('name'), member('result'), member('error'), member('id', { wide: true })],
  nameOf: ({ name }) => name,
};

const partlyFailed = 9;
/** Nothing further can go well after these. */
const hopeless = [1, 4, 7];

/**
 * Does something to each item, one after another, and shows a result for each as it comes; one that fails does not stop the others.
 * `work` answers what was done, or `undefined` under `--dry-run`. Answers the exit code: 0, or 9 when one failed. What makes all further
 * items hopeless (no connection, no right to do it) is thrown, once the results so far are shown: a script must see what was changed.
 */
export async function forEachRecord<T>(
  call: CommandContext,
  items: Iterable<T> | AsyncIterable<T>,
  nameOf: (item: T) => { name: string; id: string },
  work: (item: T) => Promise<string | undefined>,
): Promise<number> {
  let exitCode = 0;
  let end: { error: unknown } | undefined;
  async function* outcomes(): AsyncGenerator<ItemResult[]> {
    try {
      for await (const item of items) {
        const outcome = await outcomeOf(item);
        if (outcome) yield [outcome];
      }
    } catch (error) {
      end = { error };
    }
  }
  async function outcomeOf(item: T): Promise<ItemResult | undefined> {
    const names = nameOf(item);
    try {
      const result = await work(item);
      return result === undefined ? undefined : { ...names, result, error: null };
    } catch (error) {
      if (
        !(error instanceof SignageError) ||
        error.code === 'interrupted' ||
        hopeless.includes(exitCodeOf(error))
      )
        throw error;
      exitCode = partlyFailed;
      return { ...names, result: 'failed', error: error.message };
    }
  }
  if (call.common.dryRun) for await (const _ of outcomes());
  else await call.results.list(outcomes(), view);
  if (end) throw end.error;
  return exitCode;
}
