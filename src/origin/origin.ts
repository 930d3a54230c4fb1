import type { TwoPartBody } from '../domain/json/two-part-body.ts';
import type { Publication } from '../domain/playlists/playlist.ts';
import type { PlaylistContent, PlaylistWithItems } from '../domain/playlists/playlist-content.ts';
import type { Playlist, Screen, StoredConfig } from '../domain/records/rows.ts';

/** Name of an origin, as in `X-Source` (docs/protocol.md §2.3). */
export type OriginName = 'on-demand' | 'store' | 'object-store';

/**
 * Answer of an origin for a screen. After `none`, the next origin is asked. After `decided-none`,
 * no other origin is asked. Mirror copies may be outdated. Their `decided-none` therefore has the
 * `version` that was withdrawn or has expired.
 */
export type OriginAnswer =
  /** Without `items`, they are in the store. */
  | { kind: 'playlist'; playlist: Playlist; items?: string }
  | { kind: 'none' }
  | { kind: 'decided-none'; version?: number };

/**
 * One source of playlists. If it throws, it failed, and the next origin is asked. The code of a
 * `SignageError` gives the reason. Remote origins apply their own time-out, and validate the data
 * that they receive.
 */
export interface PlaylistOrigin {
  readonly name: OriginName;
  fetch(screen: Screen): Promise<OriginAnswer>;
}

/** Reads the newest version of a screen's playlist from the store. */
export type ReadPlaylist = (screenId: string) => Promise<Playlist | undefined>;

/** Members of a screen that the on-demand source gets. */
export type OnDemandScreen = Pick<Screen, 'id' | 'tenantId' | 'venueId' | 'name' | 'labels'>;

/**
 * An on-demand source as a function. Returns the content that a screen must play now, or `null` for
 * none. If it throws, the source failed. `signal` aborts when the call exceeds its time-out.
 *
 * @example
 * const onDemand: OnDemandPlaylists = async ({ labels }) =>
 *   labels.floor ? { items: await itemsOf(labels.floor) } : null;
 */
export type OnDemandPlaylists = (
  screen: OnDemandScreen,
  signal: AbortSignal,
) => Promise<Publication | null>;

/**
 * An answer of the on-demand source. If `content` is `null`, there is no playlist. While an answer
 * is cached, all requests get the same object.
 */
export interface OnDemandAnswer {
  readonly content: PlaylistContent | null;
  /**
   * Version that the store had when the call of the source began. Resolves to `undefined` if the
   * store could not be read.
   */
  readonly versionBefore?: Promise<number | undefined> | undefined;
}

export interface AskOptions {
  /** Reads the version in the store for `versionBefore`. Never rejects. */
  readVersion?: () => Promise<number | undefined>;
  /** Whether to ignore cached answers and calls that have begun. */
  isRefresh?: boolean;
}

/** The on-demand source with its cache. Its content has no version yet. */
export interface OnDemandSource {
  /** Throws if the source failed. */
  ask(screen: Screen, options?: AskOptions): Promise<OnDemandAnswer>;
  /** Removes an answer from the cache, so that the next request calls the source. */
  forget(screenId: string, answer: OnDemandAnswer): void;
}

/** The on-demand source as an origin, with versions. */
export interface OnDemandOrigin extends PlaylistOrigin {
  /** Calls the source, bypassing its cache. Throws if the source failed. */
  refresh(screen: Screen): Promise<OriginAnswer>;
}

/** Identifies the screen of a mirror copy of a playlist. */
export type ScreenKey = Pick<Screen, 'id' | 'tenantId'>;

/** Content of a mirror copy: the playlist, a tombstone, or damaged data. */
export type PlaylistCopy =
  | { kind: 'playlist'; playlist: PlaylistWithItems }
  | { kind: 'withdrawn'; version: number }
  | { kind: 'damaged'; why: string };

/** A copy in the object store. */
export interface StoredCopy {
  readonly copy: PlaylistCopy;
  /** Whether it has exactly the bytes of a copy of this row. */
  isOf(row: PlaylistWithItems): boolean;
  /** Changes whenever the copy changes. */
  etag: string;
}

/** Mirror copies of the newest playlists, outside the store. All methods throw on a time-out. */
export interface PlaylistCopies {
  /** Returns `undefined` if there is no copy. */
  read(screen: ScreenKey): Promise<StoredCopy | undefined>;
  /**
   * Replaces `stored` with a copy of the row. Returns `false`, without writing, if `stored` is no
   * longer the current copy.
   */
  write(row: PlaylistWithItems, stored: StoredCopy | undefined): Promise<boolean>;
  /** Deletes the copy, if it exists. */
  remove(screen: ScreenKey): Promise<void>;
  /** Yields pages of the ids of a tenant's screens that have a copy. */
  screensOf(tenantId: string): AsyncIterable<string[]>;
}

/** Identifies the mirror copy of a config. */
export type ConfigKey = Pick<StoredConfig, 'id' | 'tenantId'>;

/** A copy of a config in the object store. `row` is `undefined` if the copy is damaged. */
export interface StoredConfigCopy {
  row: StoredConfig | undefined;
  /** Changes whenever the copy changes. */
  etag: string;
}

/** Mirror copies of stored configs, outside the store. */
export interface ConfigCopies {
  read(config: ConfigKey): Promise<StoredConfigCopy | undefined>;
  write(row: StoredConfig, stored: StoredConfigCopy | undefined): Promise<boolean>;
  remove(config: ConfigKey): Promise<void>;
}

/** Outcome of one request to an origin. `skipped`: its circuit breaker was open. */
export type OriginOutcome = 'playlist' | 'none' | 'failed' | 'skipped';

export interface OriginHealth {
  name: OriginName;
  /** `open`: its circuit breaker is open. */
  state: 'ok' | 'failing' | 'open';
  /** Start of the current state, in epoch milliseconds. */
  sinceMs: number;
  /** The last failure. `null` if there was none since the start. */
  lastError: { code: string; atMs: number } | null;
  counts: Readonly<Record<OriginOutcome, number>>;
  /** Moving average of the latency, in milliseconds. `null` before the first answer. */
  latencyMs: number | null;
  /**
   * Latency histogram. `counts` has one more element than `boundsMs`, for answers slower than the
   * last bound.
   */
  latencies: { boundsMs: readonly number[]; counts: readonly number[]; sumMs: number };
}

/** A playlist as sent to TVs, with its strong ETag. */
export interface RenderedPlaylist {
  version: number;
  etag: string;
  body: TwoPartBody;
  /** Whether items name files of the service, by their path only. */
  hasMedia: boolean;
  /** The version of the playlist. `undefined` if another layer plays, and there is none. */
  row: Playlist | undefined;
}

export type ChainAnswer =
  | { kind: 'playlist'; playlist: RenderedPlaylist; source: OriginName }
  | { kind: 'none' }
  | { kind: 'failed'; cause: unknown };

/** Asks the origins in order, until one decides. */
export type PlaylistChain = (screen: Screen) => Promise<ChainAnswer>;
