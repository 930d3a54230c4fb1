/** Calls `make` once, at the first call, and returns that result from then on. */
export function memoize<T>(make: () => T): () => T {
  let cached: { value: T } | undefined;
  return () => {
    cached ??= { value: make() };
    return cached.value;
  };
}
