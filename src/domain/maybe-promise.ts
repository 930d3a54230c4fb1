/**
 * A value, or a promise of it. A value that is available synchronously saves the cost of a promise.
 */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Calls `next` with a value, synchronously if the value is available. Errors of `next` are then
 * thrown synchronously too, so callers await the result or handle both cases.
 */
export function andThen<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Returns the values, synchronously if all of them are available. */
export function allOf<const T extends readonly unknown[]>(
  values: T,
): MaybePromise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  return values.some((value) => value instanceof Promise)
    ? Promise.all(values)
    : (values as { -readonly [K in keyof T]: Awaited<T[K]> });
}

/** Returns the result of a call, or of `instead` if the call throws or rejects. */
export function orElse<T>(
  call: () => MaybePromise<T>,
  instead: (error: unknown) => MaybePromise<T>,
): MaybePromise<T> {
  let value: MaybePromise<T>;
  try {
    value = call();
  } catch (error) {
    return instead(error);
  }
  return value instanceof Promise ? value.catch(instead) : value;
}
