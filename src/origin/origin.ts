import type { MaybePromise } from '../domain/maybe-promise.ts';
import type { Publication } from '../domain/records/playlist.ts';
import type { Playlist, Screen, StoredConfig } from '../domain/records/rows.ts';

/** Where a playlist came from, as `X-Source` names it (docs/protocol.md §2.3). */
export type OriginName = 'on-demand' | 'store' | 'object-store';

/**
 * What an origin says of a screen: a playlist, that there is none, or that there is none and that this is decided: nobody else is asked. A copy of a
 * decision says which version it is about, for it may be outdated.
 */
export type OriginAnswer =
  | { kind: 'playlist'; playlist: Playlist }
  | { kind: 'none' }
  | { kind: 'decided-none'; version?: number };

/**
 * One place to get playlists from. A throw means that it failed, and the next one is asked; a `SignageError` says by its code how. Those who talk to
 * others give up by themselves after a while, and check what they got: what is no valid playlist is a failure.
 */
export interface PlaylistOrigin {
  readonly name: OriginName;
  fetch(screen: Screen): MaybePromise<OriginAnswer>;
}

/** One that has to ask others: nothing is there at once. */
export interface RemoteOrigin extends PlaylistOrigin {
  fetch(screen: Screen): Promise<OriginAnswer>;
}

/** Reads the newest version of a screen's playlist from the store. */
export type ReadPlaylist = (screenId: string) => MaybePromise<Playlist | undefined>;

/** A screen as the on-demand source is told of it. */
export type OnDemandScreen = Pick<Screen, 'id' | 'tenantId' | 'venueId' | 'name' | 'labels'>;

/**
 * An on-demand source as a function: what a screen is to play now, or `null` for none. A throw means that the source failed. `signal` aborts when nobody
 * waits any longer.
 *
 * @example
 * const onDemand: OnDemandPlaylists = async ({ labels }) => (labels.floor ? { items: await itemsOf(labels.floor) } : null);
 */
export type OnDemandPlaylists = (
  screen: OnDemandScreen,
  signal: AbortSignal,
) => Promise<Publication | null>;

/** What the on-demand source wants a screen to play: items as JSON text, and its end in epoch milliseconds, if it gave one. */
export type OnDemandContent = Pick<Playlist, 'items' | 'validUntil'>;

/** One answer of the on-demand source; `null` content: there is none. As long as it is held, askers get the same object. */
export interface OnDemandAnswer {
  readonly content: OnDemandContent | null;
}

/** The on-demand source, asked as seldom as may be. Its contents are no playlists yet: they have no version. Throws when it failed. */
export interface OnDemandSource {
  ask(screen: Screen): Promise<OnDemandAnswer>;
}

/** A screen, as far as it takes to find its copy. */
export type ScreenOf = Pick<Screen, 'id' | 'tenantId'>;

/** What a copy says: the screen's playlist, that it was withdrawn, or nothing that can be understood. */
export type PlaylistCopy =
  | { kind: 'playlist'; playlist: Playlist }
  | { kind: 'withdrawn'; version: number }
  | { kind: 'damaged'; why: string };

/** A copy as it was found. */
export interface HeldCopy {
  copy: PlaylistCopy;
  /** Differs whenever the copy does. */
  etag: string;
}

/** Copies of the newest playlists outside the store. All throw when nobody answers in time. */
export interface PlaylistCopies {
  /** Names the place to people, and differs for different places. */
  readonly location: string;
  /** `undefined` when there is none. */
  read(screen: ScreenOf): Promise<HeldCopy | undefined>;
  /** Writes what the row says in place of `held`; answers `false` when that is no longer what is there, and writes nothing. */
  write(row: Playlist, held: HeldCopy | undefined): Promise<boolean>;
  /** Nothing happens when there is none. */
  remove(screen: ScreenOf): Promise<void>;
  /** Some ids of screens of a tenant that have a copy, and where the next page begins. */
  screensOf(
    tenantId: string,
    after: string | null,
  ): Promise<{ ids: string[]; next: string | null }>;
}

/** A stored config, as far as it takes to find its copy. */
export type ConfigOf = Pick<StoredConfig, 'id' | 'tenantId'>;

/** A copy of a config as it was found; its row is `undefined` when it cannot be understood. */
export interface HeldConfig {
  row: StoredConfig | undefined;
  /** Differs whenever the copy does. */
  etag: string;
}

/** Copies of stored configs outside the store, like those of playlists. */
export interface ConfigCopies {
  read(config: ConfigOf): Promise<HeldConfig | undefined>;
  write(row: StoredConfig, held: HeldConfig | undefined): Promise<boolean>;
  remove(config: ConfigOf): Promise<void>;
}

/** How one question to an origin ended; `skipped`: it was not asked, for it failed again and again a moment ago. */
export type OriginOutcome = 'playlist' | 'none' | 'failed' | 'skipped';

/** How an origin fares. */
export interface OriginHealth {
  name: OriginName;
  /** `open`: it failed so often in a row that it is left alone, but for a look now and then. */
  state: 'ok' | 'failing' | 'open';
  /** Since when, in epoch milliseconds. */
  sinceMs: number;
  /** The code of the last failure. */
  lastError: { code: string; atMs: number } | null;
  counts: Readonly<Record<OriginOutcome, number>>;
  /** How long an answer takes, in milliseconds, the latest counting most; `null` before the first. */
  latencyMs: number | null;
  /** How many answers took up to each bound and longer than the one before, the last: longer than all; and all together. */
  latencies: { boundsMs: readonly number[]; counts: readonly number[]; sumMs: number };
}

/** What the origins have said together. */
export type ChainAnswer =
  | { kind: 'playlist'; playlist: Playlist; source: OriginName }
  | { kind: 'none' }
  | { kind: 'failed'; cause: unknown };

/** All origins, asked in turn. */
export type PlaylistChain = (screen: Screen) => MaybePromise<ChainAnswer>;
