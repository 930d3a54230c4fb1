/**
 * What several sources yield, as it comes; at most `atOnce` of them session at a time, the next begins when one has ended. What one throws is
 * thrown, once `stop` has been called and all the others have ended.
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
    // It is waitedForText later on, perhaps after another one has thrown.
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
