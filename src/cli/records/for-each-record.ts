import { forEachBounded } from '../../domain/concurrency.ts';
import type { SignageError } from '../../domain/error.ts';
import { type Column, member, type View } from '../output/view.ts';
import type { CommandContext } from '../program/context.ts';
import { failedExitCode, isFatal } from '../program/exit-code.ts';
import { progressBar, withProgress } from '../terminal/progress.ts';
import { countsText } from '../terminal/text.ts';

/** The result for one record of a command that changes several. */
export interface ItemResult {
  name: string;
  id: string;
  /** One word, such as `revoked` or `unchanged`; `failed` after an error. */
  result: string;
  error: string | null;
}

/** The word for a result, alone or with more members of the result. */
type ResultWord<M> = string | ({ result: string } & M);

/**
 * Maximum number of requests in flight while a command changes several records. The service answers
 * a request in about 1 ms, so more requests would only wait in its queue.
 */
const recordsAtOnce = 16;

/** Maps records, some of them at once. The results have the order of the records. */
export async function mapBounded<T, R>(
  items: readonly T[],
  map: (item: T) => Promise<R>,
  onDone: (done: number) => void = () => {},
): Promise<R[]> {
  const results: R[] = [];
  let done = 0;
  await forEachBounded(items.entries(), recordsAtOnce, async ([at, item]) => {
    results[at] = await map(item);
    onDone(++done);
  });
  return results;
}

/** Maps records like `mapBounded`, and shows the progress: `Reading [###  ] 3 of 5`. */
export const mapRecords = <T, R>(
  call: CommandContext,
  verb: string,
  items: readonly T[],
  map: (item: T) => Promise<R>,
): Promise<R[]> =>
  withProgress(call, (show) =>
    mapBounded(items, map, (done) => show(`${verb} ${progressBar(done, items.length)}`)),
  );

/** The view of results. `columns` show their further members. */
export const resultView = <M>(columns: readonly Column<M>[] = []): View<ItemResult & M> => ({
  columns: [
    member<ItemResult & M, 'name'>('name'),
    member<ItemResult & M, 'result'>('result'),
    ...(columns as readonly Column<ItemResult & M>[]),
    member<ItemResult & M, 'error'>('error'),
    member<ItemResult & M, 'id'>('id', { wide: true }),
  ],
  nameOf: ({ name }) => name,
});

interface NamedRecord {
  name: string;
  id: string;
}

/**
 * Calls `work` for each record, for up to 16 at the same time, and continues after an error. Yields
 * the results in the order of the records, and shows a progress bar. `work` returns `undefined`
 * with `--dry-run`.
 *
 * After an error that would repeat for all further records, starts no further call of `work`.
 * Yields the remaining results, because a script must see all changes, and then throws the error.
 */
async function* resultsOf<T extends NamedRecord, M = unknown>(
  call: CommandContext,
  items: readonly T[],
  work: (item: T) => Promise<ResultWord<M> | undefined>,
  show: (text: string) => void = () => {},
): AsyncGenerator<ItemResult & M> {
  let fatal: { error: unknown } | undefined;

  async function resultOf(item: T): Promise<(ItemResult & M) | undefined> {
    const { name, id } = item;
    const result = (more: object) => ({ name, id, ...more }) as ItemResult & M;
    try {
      const outcome = await work(item);
      if (outcome === undefined) return undefined;
      const members = typeof outcome === 'string' ? { result: outcome } : outcome;
      return result({ ...members, error: null });
    } catch (error) {
      if (!isFatal(error)) {
        const { message, hint } = call.shownError(error as SignageError);
        return result({ result: 'failed', error: hint ? `${message} ${hint}` : message });
      }
      fatal ??= { error };
      return undefined;
    }
  }

  const atOnce = call.common.dryRun ? 1 : recordsAtOnce;
  const inFlight: Promise<(ItemResult & M) | undefined>[] = [];
  let started = 0;
  try {
    while (inFlight.length > 0 || (started < items.length && !fatal)) {
      while (!fatal && inFlight.length < atOnce && started < items.length)
        inFlight.push(resultOf(items[started++] as T));
      const result = await inFlight.shift();
      show(progressBar(started - inFlight.length, items.length));
      if (result) yield result;
    }
  } finally {
    // A reader that stops, such as on a full disk, learns of all that was done.
    await Promise.all(inFlight);
  }
  if (fatal) throw fatal.error;
}

/** Prints how many records have each result, and returns the exit code: 0, or 9 if one failed. */
export function summarize(call: CommandContext, words: readonly string[]): number {
  if (words.length > 1) call.note(`${countsText(words)}.`);
  return words.includes('failed') ? failedExitCode : 0;
}

type Show = (text: string) => void;

/**
 * Prints results: at a terminal at the end, otherwise as they arrive. Returns the exit code: 0, or
 * 9 when a record failed. Prints the results before an error, and then throws the error.
 *
 * @param columns show the further members of results
 */
export async function printResults<M = unknown>(
  call: CommandContext,
  results: (show: Show) => AsyncIterable<ItemResult & M>,
  columns: readonly Column<M>[] = [],
): Promise<number> {
  const words: string[] = [];
  let stopped: { error: unknown } | undefined;

  async function* pages(show: Show): AsyncGenerator<(ItemResult & M)[]> {
    try {
      for await (const result of results(show)) {
        words.push(result.result);
        yield [result];
      }
    } catch (error) {
      stopped = { error };
    }
  }

  await withProgress(call, async (show, erase) => {
    if (call.common.dryRun) for await (const _ of pages(() => {}));
    else if (!call.io.stdout.isTTY) await call.results.list(pages(show), resultView(columns));
    else {
      const all: (ItemResult & M)[] = [];
      for await (const page of pages(show)) for (const one of page) all.push(one);
      erase();
      await call.results.list([all], resultView(columns));
    }
  });
  const exitCode = summarize(call, words);
  if (stopped) throw stopped.error;
  return exitCode;
}

/** Prints the results of `resultsOf`. Returns the exit code. */
export const forEachRecord = <T extends NamedRecord, M = unknown>(
  call: CommandContext,
  items: readonly T[],
  work: (item: T) => Promise<ResultWord<M> | undefined>,
  columns: readonly Column<M>[] = [],
): Promise<number> => printResults(call, (show) => resultsOf(call, items, work, show), columns);
