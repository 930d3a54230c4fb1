/**
 * Runs `work` for all items, at most `atOnce` at a time. After the first failure it starts no more,
 * waits for those running, then throws.
 */
export async function concurrently<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length && failures.length === 0) {
      const item = items[next++] as T;
      await work(item).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}

/** Maximum concurrent requests of one command. */
export const requestsAtOnce = 16;
