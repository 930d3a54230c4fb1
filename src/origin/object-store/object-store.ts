/** An object as it is kept. */
export interface StoredObject {
  /** `undefined` when there are more than `maxObjectBytes`. */
  bytes: Uint8Array | undefined;
  /** Differs whenever the contents do. */
  etag: string;
}

/** Some keys, and where the next page begins; `null` when there is none. */
export interface KeyPage {
  keys: string[];
  next: string | null;
}

/**
 * Where objects are kept by key: a path of `A-Z a-z 0-9 . _ -` and `/`. What fails throws a `SignageError`: `object_store_unreachable` when nobody
 * answers, `object_store_refused` when the answer is a refusal, or none that this protocol has. Nothing secret is in them.
 */
export interface ObjectStore {
  /** Names the place to people, and differs for different places. */
  readonly location: string;
  get(key: string, signal: AbortSignal): Promise<StoredObject | undefined>;
  /**
   * Writes whole or not at all; durable on return. Where the place knows conditions, only over the object with the etag `expected` (`null`: only
   * where there is none): answers `false` when that is no longer so, and nothing was written.
   */
  put(
    key: string,
    bytes: Uint8Array,
    expected: string | null,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Nothing happens when there is none. */
  delete(key: string, signal: AbortSignal): Promise<void>;
  /** Keys directly below a folder, a key without its last part; `after` is the `next` of the page before. */
  list(folder: string, after: string | null, signal: AbortSignal): Promise<KeyPage>;
  /** Lets go of connections; what is under way fails. */
  close(): Promise<void>;
}

/** A body may have 1 MiB (docs/protocol.md §1.7); kept as JSON, a number such as `1e20` takes more than four times what it took there. */
export const maxObjectBytes = 8 * 1024 * 1024;
