const sorted = (values: readonly number[]) => values.toSorted((one, other) => one - other);

export function median(values: readonly number[]): number {
  return sorted(values)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Returns the value below or at which this part of the values is. */
export const share = (values: readonly number[], part: number) =>
  sorted(values)[Math.ceil(part * values.length) - 1] ?? Number.NaN;

/** Returns median, lowest and highest value, such as `12 (9–15)`. */
export function summary(values: readonly number[], digits = 0): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`;
}

export async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const start = performance.now();
  const result = await work();
  return { ms: performance.now() - start, result };
}

/** Makes `count` calls, `concurrency` at a time. Returns the milliseconds that they took. */
export async function timeCalls(
  count: number,
  concurrency: number,
  call: (index: number) => Promise<unknown>,
): Promise<number> {
  const start = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return performance.now() - start;
}
