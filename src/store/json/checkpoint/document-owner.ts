/** The lines of a document, and the last record of the owner's log that it contains. */
export interface RenderedDocument {
  /**
   * Lines without line feeds. May be generated lazily, so that pauses do not grow with the fleet.
   */
  lines: Iterable<string> | AsyncIterable<string>;
  seq: number;
}

/** The document on disk. */
export interface WrittenDocument {
  seq: number;
  /**
   * Reads the lines, which begin with checksums (`textLines`), and checks the file's checksum.
   * Fails with `ENOENT` if the document was replaced; the owner then reads the new one.
   */
  text(): Promise<string>;
  /** Like `text`, but returns bytes. */
  bytes(): Promise<Buffer>;
  /**
   * Reads chunks of 64 KiB to 1 MiB on demand, without checking the checksum. Roll-ups use it,
   * because they need only a part of a document. A chunk is valid until the next one is requested.
   * In a document with sorted lines, leading lines for which `comesBefore` is true may be skipped.
   * `comesBefore` gets the start of a line. `maxBytes` limits the chunks further. Fails with
   * `ENOENT` if the document was replaced; the owner then reads the new one.
   */
  chunks(comesBefore?: (head: Buffer) => boolean, maxBytes?: number): AsyncIterable<Buffer>;
}

/**
 * A part of the store that keeps documents. The checkpoint gets the changed documents from each
 * owner and writes them (temporary file, fsync, rename, new name). Then it writes the manifest that
 * names them, calls `written`, and deletes obsolete files. So documents and log positions change
 * atomically.
 */
export interface DocumentOwner {
  /** Prefix of the names of the owner's documents: `<kind>-<rest>`. */
  readonly kind: string;
  /**
   * The log whose records the owner's documents contain. At start, all records after the document's
   * `seq` are replayed onto it. `none`: the documents have no log.
   */
  readonly log: 'journal' | 'events' | 'none';
  /**
   * True if the owner reads its documents on demand, so that a start only checks their size.
   * Otherwise the owner loads its documents at start, which checks them completely.
   */
  readonly readsLate?: boolean;
  /**
   * Returns the names of the documents that differ from disk. Owners with the log `journal` must
   * name all of these documents, because the checkpoint then deletes the earlier journal records.
   * Owners with `events` or `none` may defer some documents.
   */
  dirty(): string[];
  /**
   * Renders the current document; `undefined` if it is empty and must be deleted. Must take its
   * snapshot before its first `await`. `before` is the document on disk.
   */
  render(name: string, before: WrittenDocument | undefined): Promise<RenderedDocument | undefined>;
  /**
   * Called when the rendered document is durable as `document`, or deleted if `undefined`. Changes
   * after the snapshot stay dirty.
   */
  written?(name: string, document: WrittenDocument | undefined): void;
  /** Called after a failed write. Must mark the changes of the snapshot as dirty again. */
  failed(name: string): void;
  /** Loads a document at start. Owners that read on demand only keep `document`. */
  load(name: string, document: WrittenDocument): Promise<void>;
}
