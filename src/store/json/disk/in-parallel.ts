/**
 * Processes items in order, at most `width` at a time. After a failure it starts no further item,
 * waits for those in flight, and rejects.
 */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (!failed && next < items.length) {
      const item = items[next++] as T;
      await work(item).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const results = await Promise.allSettled(Array.from({ length: width }, worker));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
