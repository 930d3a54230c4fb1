/** Reads parts of a file, wherever it lies. */
export interface ByteSource {
  /** Size of the file, in bytes. */
  size: number;
  /** Returns the bytes from `start` up to but not including `end`, which is at most `size`. */
  read(start: number, end: number): Promise<Uint8Array>;
}
