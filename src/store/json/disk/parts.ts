import type { Clock } from '../../../domain/clock.ts';
import type { FileSystem } from './file-system.ts';

/**
 * Dependencies of each part of the embedded store. `memory:` uses the same store with an in-memory
 * `FileSystem`.
 */
export interface PartContext {
  disk: FileSystem;
  /** The data folder. A part creates its own subfolder when it first needs one. */
  directory: string;
  clock: Clock;
  /** Appends fail while fewer bytes than this are free. */
  lowWaterBytes: number;
  /** Logs a warning. */
  warn(message: string, cause?: unknown): void;
}

/** A part with a state in the manifest (`marks`). */
export interface MarkedPart<Mark = unknown> {
  /** Key of the state in the manifest, and name of the part's folder, if it has one. */
  readonly name: string;
  /** Writes and syncs pending data. Returns the state for the manifest. Works after `close`. */
  prepare(): Promise<Mark>;
  /**
   * Reads and checks the part's files at start, and applies the records that the documents may
   * lack. Changes nothing on disk. Throws `store_damaged` for damaged files. `mark` is `undefined`
   * in a new store. If `clean`, any difference between the files and `mark` is damage.
   */
  recover(mark: Mark | undefined, clean: boolean): Promise<void>;
}

/**
 * A part with files of its own besides documents. Its mark is a position: the valid length of the
 * files, and the last record that the documents contain.
 *
 * Start: load the documents (`DocumentOwner.load`), `recover` each part, write the manifest with
 * the new epoch, `begin` each part. Checkpoint: `prepare` each part, the journal first; write the
 * documents; write the manifest with the positions; `committed` for each part. A checkpoint that
 * fails before the manifest is written has no effect. The next checkpoint calls `prepare` again.
 * Stop: `close` each part, then make a last checkpoint whose manifest is marked clean.
 */
export interface FilePart<Position = unknown> extends MarkedPart<Position> {
  /**
   * Called when the manifest with the position of the last `prepare` is durable. Deletes files that
   * are no longer needed.
   */
  committed(): Promise<void>;
  /**
   * Called when the whole store has proved valid. Makes the changes that `recover` found necessary,
   * such as cutting off a torn tail. Appends may follow.
   */
  begin(epoch: number): Promise<void>;
  /** Finishes pending appends and closes the files. The last checkpoint may open them again. */
  close(): Promise<void>;
}
