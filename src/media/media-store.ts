import type { ByteRange } from '../domain/media/media.ts';

/** A file in a media store. */
export interface StoredFile {
  key: string;
  bytes: number;
}

/**
 * Where media files and parts of uploads lie. Keys are paths of `a-z 0-9 -` and `/`: the SHA-256 of
 * a whole file, or a path below `parts/`. Failures throw `unavailable`.
 */
export interface MediaStore {
  /**
   * Stores a file of `size` bytes, durable when the promise resolves. If `content` throws, nothing
   * is stored, and the error is passed on. So no key ever names incomplete content. Replaces a
   * file with the same key. Throws `unavailable` if too little space is free.
   */
  put(key: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Reads a file, or a range of it. Returns `undefined` if it does not exist, or ends before the
   * range does. The file is open until the iterator ends or is returned.
   */
  open(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Returns the file without reading it, or `undefined` if it does not exist. */
  find(key: string): Promise<StoredFile | undefined>;
  /** Deletes a file, if it exists. */
  delete(key: string): Promise<void>;
  /** Lists the keys that begin with `prefix`. Ends with the reason of an aborted signal. */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<string>;
  /** Lists the names of the folders directly below `folder`, a path that ends with `/`. */
  folders(folder: string, signal?: AbortSignal): AsyncIterable<string>;
  /** Deletes what was begun and stayed the same in the last three calls. Call it every minute. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}
