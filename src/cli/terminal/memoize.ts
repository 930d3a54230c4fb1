/** Returns a function that calls `make` once, at its first call, and always returns that result. */
export function memoize<T>(make: () => T): () => T {
  let cached: { value: T } | undefined;
  return () => {
    cached ??= { value: make() };
    return cached.value;
  };
}
