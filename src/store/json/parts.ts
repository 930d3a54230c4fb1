import type { Clock } from '../../domain/clock.ts';
import type { LastActivity, Playlist, TokenActivity } from '../../domain/records/rows.ts';
import type { PastPlaylistQuery, Slice } from '../store.ts';
import type { DocumentOwner } from './checkpoint/document-owner.ts';
import type { FileSystem } from './disk/file-system.ts';

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

/**
 * A part with its own files besides documents. The manifest stores its position as JSON that only
 * the part reads: the valid length of its files, and the start of the records that are not in
 * documents yet.
 *
 * Start: load the documents (`DocumentOwner.load`), `recover` each part, write the manifest with
 * the new epoch, `begin` each part.
 * Checkpoint: `prepare` each part, the journal first; write the documents; write the manifest with
 * the positions; `committed` for each part. A checkpoint that fails before the manifest is written
 * has no effect, and the next one calls `prepare` again.
 * Stop: `close` each part, then make a last checkpoint whose manifest is marked clean.
 */
export interface FilePart<Position = unknown> {
  /** Key of the position in the manifest, and name of the part's folder. */
  readonly name: string;
  /**
   * Writes and syncs pending data. Returns the position for the manifest. Also works after `close`.
   */
  prepare(): Promise<Position>;
  /**
   * Called when the manifest with the position of the last `prepare` is durable. Deletes files that
   * are no longer needed.
   */
  committed(): Promise<void>;
  /**
   * Reads and checks its files at start, and applies the records that the documents lack. Changes
   * nothing on disk. Throws `store_damaged` (`damaged` in log/damage.ts). `position` is `undefined`
   * in a new store. After a clean stop any difference is damage.
   */
  recover(position: Position | undefined, clean: boolean): Promise<void>;
  /**
   * Called when the whole store has proved valid. Makes the changes that `recover` found necessary,
   * such as cutting off a torn tail. Appends may follow.
   */
  begin(epoch: number): Promise<void>;
  /** Rejects new appends, finishes pending ones, closes its files. */
  close(): Promise<void>;
}

/**
 * A table that is read from its documents on demand. Changes that are in no document yet are kept
 * in memory. Its log is the journal.
 */
export interface OnDiskTable extends DocumentOwner {
  /**
   * Applies a change of journal record `seq`, which has become durable or is replayed after `load`.
   * Replay includes changes that the document already contains.
   */
  apply(seq: number, id: string, row: Playlist | null): void;
  get(id: string): Promise<Playlist | undefined>;
  /** Returns all rows of the given screens, ordered by id as text. */
  select(screenIds: readonly string[]): Promise<Playlist[]>;
  /** Returns one page. Parses no more rows than the page holds. */
  page(query: PastPlaylistQuery): Promise<Slice<Playlist>>;
}

/** Implemented by `makePlaylistHistory` in rows/playlist-history.ts. */
export type MakeOnDiskTable = (context: PartContext) => OnDiskTable;

/**
 * The latest activity of devices and tokens. `dirty` names documents at most once a minute; after
 * `close`, all that changed.
 */
export interface LastActivityPart extends DocumentOwner {
  touch(kind: 'device', id: string, activity: LastActivity): void;
  touch(kind: 'token', id: string, activity: TokenActivity): void;
  marks(kind: 'device', id: string): LastActivity;
  marks(kind: 'token', id: string): TokenActivity;
  /** Deletes the activity of a deleted device or token. */
  forget(kind: 'device' | 'token', id: string): void;
  close(): void;
}

/** Implemented by `makeLastActivityPart` in activity/last-activity.ts. */
export type MakeLastActivityPart = (context: PartContext) => LastActivityPart;
