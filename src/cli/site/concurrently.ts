/**
 * Does the work for all items, so many at once. The first failure stops it: nothing further is begun, what is under way is awaited, and then it
 * is thrown.
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

/** How many requests a site has under way at a time. */
export const requestsAtOnce = 16;
