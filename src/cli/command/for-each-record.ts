import type { SignageError } from '../../domain/error.ts';
import { type Column, member, type View } from '../output/view.ts';
import { countsText } from '../records/text.ts';
import { progressBar, withProgress } from '../terminal/progress.ts';
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

/** The word for a result, alone or with more members of the result. */
type Outcome<M> = string | ({ result: string } & M);

/**
 * Requests in flight of a command for several records. The service answers one in about 1 ms, so
 * more would only wait in its queue.
 */
export const recordsAtOnce = 16;

const view = <M>(columns: readonly Column<M>[]): View<ItemResult & M> => ({
  columns: [
    member<ItemResult & M, 'name'>('name'),
    member<ItemResult & M, 'result'>('result'),
    ...(columns as readonly Column<ItemResult & M>[]),
    member<ItemResult & M, 'error'>('error'),
    member<ItemResult & M, 'id'>('id', { wide: true }),
  ],
  nameOf: ({ name }) => name,
});

/**
 * Calls `work` for each record, for up to 16 at the same time, and continues after an error. Prints
 * the results in the order of the records: at a terminal at the end, otherwise as they arrive.
 * `work` returns the result, or `undefined` with `--dry-run`. `columns` show the further members of
 * results. Returns the exit code: 0, or 9 when a record failed.
 *
 * After an error that would repeat for all further records, it begins no further record, prints the
 * results so far, because a script must see what was changed, and rethrows the error.
 */
export async function forEachRecord<T extends { name: string; id: string }, M = unknown>(
  call: CommandContext,
  items: readonly T[],
  work: (item: T) => Promise<Outcome<M> | undefined>,
  columns: readonly Column<M>[] = [],
): Promise<number> {
  const words: string[] = [];
  let fatal: { error: unknown } | undefined;

  async function outcomeOf(item: T): Promise<(ItemResult & M) | undefined> {
    const { name, id } = item;
    const result = (more: object) => ({ name, id, error: null, ...more }) as ItemResult & M;
    try {
      const outcome = await work(item);
      if (outcome === undefined) return undefined;
      return result(typeof outcome === 'string' ? { result: outcome } : outcome);
    } catch (error) {
      if (!isFatal(error))
        return result({ result: 'failed', error: (error as SignageError).message });
      fatal ??= { error };
      return undefined;
    }
  }

  async function* outcomes(show: (text: string) => void): AsyncGenerator<(ItemResult & M)[]> {
    const atOnce = call.common.dryRun ? 1 : recordsAtOnce;
    const inFlight: Promise<(ItemResult & M) | undefined>[] = [];
    let started = 0;
    while (inFlight.length > 0 || started < items.length) {
      while (!fatal && inFlight.length < atOnce && started < items.length)
        inFlight.push(outcomeOf(items[started++] as T));
      if (inFlight.length === 0) return;
      const outcome = await inFlight.shift();
      show(progressBar(started - inFlight.length, items.length));
      if (!outcome) continue;
      words.push(outcome.result);
      yield [outcome];
    }
  }

  await withProgress(call, async (show, erase) => {
    if (call.common.dryRun) for await (const _ of outcomes(() => {}));
    else if (!call.io.stdout.isTTY) await call.results.list(outcomes(show), view(columns));
    else {
      const all: (ItemResult & M)[] = [];
      for await (const page of outcomes(show)) all.push(...page);
      erase();
      await call.results.list([all], view(columns));
    }
  });
  if (words.length > 1) call.note(`${countsText(words)}.`);
  if (fatal) throw fatal.error;
  return words.includes('failed') ? failedExitCode : 0;
}
