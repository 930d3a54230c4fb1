import { type Clock, secondMs } from '../../domain/clock.ts';
import { withTimeout } from '../../domain/timeout.ts';

/** An object with its ETag. */
export interface StoredObject {
  /** `undefined` if the object is larger than `maxObjectBytes`. */
  bytes: Uint8Array | undefined;
  /** Changes whenever the bytes change. */
  etag: string;
}

/** A page of keys. `next` is the start of the next page, or `null` on the last page. */
export interface KeyPage {
  keys: string[];
  next: string | null;
}

/**
 * A store of objects by key: a path of `A-Z a-z 0-9 . _ -` and `/`. Failures throw a
 * `SignageError`: `object_store_unreachable` if no answer came, `object_store_refused` for an error
 * or unexpected answer. Its message contains no secrets.
 */
export interface ObjectStore {
  get(key: string, signal: AbortSignal): Promise<StoredObject | undefined>;
  /**
   * Writes an object atomically. `expected` is the ETag of the object to replace, or
   * `null` to create a new object. If the store supports conditions and this condition fails,
   * returns `false` and writes nothing.
   */
  put(
    key: string,
    bytes: Uint8Array,
    expected: string | null,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Deletes the object, if it exists. */
  delete(key: string, signal: AbortSignal): Promise<void>;
  /**
   * Lists the keys directly below a folder, which is a key without its last part. `after` is the
   * `next` of the previous page.
   */
  list(folder: string, after: string | null, signal: AbortSignal): Promise<KeyPage>;
  /** Closes connections. Requests in flight fail. */
  close(): Promise<void>;
}

/**
 * Maximum size of an object. A request body may have 1 MiB (docs/protocol.md §1.7). Its stored
 * JSON may be longer: a number such as `1e20` becomes more than four times as long.
 */
export const maxObjectBytes = 8 * 1024 * 1024;

/** Short, because a TV may be waiting. */
const readTimeoutMs = 2 * secondMs;
/** Longer, because writes run in the background, and 1 MiB may have to pass a slow line. */
const writeTimeoutMs = 5 * secondMs;

/**
 * Adds time-outs to the calls of an object store. `put` replaces the object `stored`, or creates a
 * new object if `stored` is `undefined`.
 */
export function withTimeouts(store: ObjectStore, clock: Clock) {
  function timed<T>(timeoutMs: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const aborter = new AbortController();
    return withTimeout(clock, timeoutMs, call(aborter.signal), () => aborter.abort());
  }

  return {
    get: (key: string) => timed(readTimeoutMs, (signal) => store.get(key, signal)),
    put: (key: string, bytes: Uint8Array, stored: Pick<StoredObject, 'etag'> | undefined) =>
      timed(writeTimeoutMs, (signal) => store.put(key, bytes, stored?.etag ?? null, signal)),
    delete: (key: string) => timed(writeTimeoutMs, (signal) => store.delete(key, signal)),
    list: (folder: string, after: string | null) =>
      timed(writeTimeoutMs, (signal) => store.list(folder, after, signal)),
  };
}
