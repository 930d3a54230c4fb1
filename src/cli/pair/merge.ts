/**
 * Merges the output of several generators. At most `atOnce` of them run at a time. On an error,
 * calls `stop`, waits for all generators to end, then throws the error.
 */
export async function* merge<T>(
  sources: readonly AsyncGenerator<T>[],
  atOnce: number,
  stop: () => void,
): AsyncGenerator<T> {
  const waiting = [...sources];
  const pending = new Map<
    AsyncGenerator<T>,
    Promise<{ source: AsyncGenerator<T>; result: IteratorResult<T> }>
  >();
  const ask = (source: AsyncGenerator<T>) => {
    const answer = source.next().then((result) => ({ source, result }));
    // Prevents an unhandled rejection: `Promise.race` may throw another error first.
    answer.catch(() => {});
    pending.set(source, answer);
  };
  const fill = () => {
    while (pending.size < atOnce) {
      const next = waiting.shift();
      if (!next) return;
      ask(next);
    }
  };
  try {
    for (fill(); pending.size > 0; fill()) {
      const { source, result } = await Promise.race(pending.values());
      if (result.done) pending.delete(source);
      else {
        yield result.value;
        ask(source);
      }
    }
  } finally {
    stop();
    await Promise.allSettled(pending.values());
    await Promise.allSettled([...pending.keys()].map((source) => source.return(undefined)));
  }
}
