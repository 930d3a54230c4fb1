import type { SignageError } from '../../domain/error.ts';
import { member, type View } from '../output/view.ts';
import type { CommandContext } from './context.ts';
import { failedExitCode, isFatal } from './exit-code.ts';

/** The result for one record of a command that changes several. */
export interface ItemResult {
  name: string;
  id: string;
  /** One word, such as `revoked` or `unchanged`; `failed` after an error. */
  result: string;
  error: string | null;
}

const view: View<ItemResult> = {
  columns: [member('name'), member('result'), member('error'), member('id', { wide: true })],
  nameOf: ({ name }) => name,
};

/**
 * Calls `work` for each record in order, prints each result at once, and continues after an error.
 * `work` returns the word for the result, or `undefined` with `--dry-run`. Returns the exit code:
 * 0, or 9 when a record failed. Rethrows an error that would repeat for all further records. Prints
 * the results so far before that, because a script must see what was changed.
 */
export async function forEachRecord<T extends { name: string; id: string }>(
  call: CommandContext,
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<string | undefined>,
): Promise<number> {
  let exitCode = 0;
  let fatal: { error: unknown } | undefined;
  async function* outcomes(): AsyncGenerator<ItemResult[]> {
    try {
      for await (const item of items) {
        const outcome = await outcomeOf(item);
        if (outcome) yield [outcome];
      }
    } catch (error) {
      fatal = { error };
    }
  }
  async function outcomeOf(item: T): Promise<ItemResult | undefined> {
    const { name, id } = item;
    try {
      const result = await work(item);
      return result === undefined ? undefined : { name, id, result, error: null };
    } catch (error) {
      if (isFatal(error)) throw error;
      exitCode = failedExitCode;
      return { name, id, result: 'failed', error: (error as SignageError).message };
    }
  }
  if (call.common.dryRun) for await (const _ of outcomes());
  else await call.results.list(outcomes(), view);
  if (fatal) throw fatal.error;
  return exitCode;
}
