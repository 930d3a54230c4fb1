/** What is there at once where it can be, and comes later where it must. A promise costs more than a look into memory does. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Goes on with a value, at once if it is there. What `next` throws is thrown, or rejects, accordingly: callers either await the outcome, or
 * are ready for both.
 */
export function andThen<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The value of a call, or of what takes its place when the call fails, now or later. */
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
