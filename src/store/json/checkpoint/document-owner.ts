/** The text of a document, a line at a time, and the last record of the owner's log that it contains. */
export interface RenderedDocument {
  /** Lines without line feeds; may be produced slowly, so that no pause grows with the fleet. */
  lines: Iterable<string> | AsyncIterable<string>;
  seq: number;
}

/** The document as it stands on the disk. */
export interface WrittenDocument {
  seq: number;
  /** Its text, checked against the manifest's checksum. One that was replaced meanwhile may be gone (`ENOENT`): its owner reads the new one then. */
  read(): Promise<string>;
  /** The same as bytes. */
  bytes(): Promise<Buffer>;
  /**
   * Its bytes, 64 KiB to 1 MiB at a time, read as they are asked for and not checked: for those who need a part of it (the roll-ups). Each is good until the
   * next one is asked for. Lines that `comesBefore`, by their beginnings, may be left out at the beginning, for a document whose lines are in order.
   * Of a document that has been replaced the file may be gone: then this fails with `ENOENT`, as `read` does, and the owner asks the new one.
   */
  chunks(comesBefore?: (head: Buffer) => boolean): AsyncIterable<Buffer>;
}

/**
 * A part of the store that keeps documents. The checkpoint asks each owner for those that changed, writes them (temporary file, fsync,
 * rename, under a new name), then the manifest that names them, and only then tells the owner and deletes what nobody needs any more.
 * So documents and log positions change together or not at all.
 */
export interface DocumentOwner {
  /** First part of its documents' names: `<kind>-<rest>`. */
  readonly kind: string;
  /** The log whose records its documents contain: a record is replayed onto a document when its `seq` is higher than the document's. */
  readonly log: 'journal' | 'events' | 'none';
  /** It reads its documents when asked: a start checks no more than their size. The others read them, and thereby check them whole. */
  readonly readsLate?: boolean;
  /** Whether it keeps this document as the bytes that were read, at least at first. */
  keepsBytes?(name: string): boolean;
  /**
   * Documents that differ from what is on the disk, by name. Owners of the journal name all of them: a checkpoint takes in everything up to its
   * start, and the journal before that goes. Those of `events` and `none` may leave some for later.
   */
  dirty(): string[];
  /**
   * The document as it is now; `undefined` when it is empty and goes. Must take its snapshot before its first `await`.
   * `before` is what stands on the disk.
   */
  render(name: string, before: WrittenDocument | undefined): Promise<RenderedDocument | undefined>;
  /** The rendered document is on the disk as `document`, named by the manifest; `undefined` when it went. What came after the snapshot stays dirty. */
  written(name: string, document: WrittenDocument | undefined): void;
  /** The writing failed: what the snapshot took is dirty again. */
  failed(name: string): void;
  /** At start: the document as it stands. Owners that read from disk when asked keep `document` and read nothing. */
  load(name: string, document: WrittenDocument): Promise<void>;
}
