import { hasBegun, hourMs } from '../../domain/clock.ts';
import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import { contentId, type PlaylistContent } from '../../domain/playlists/playlist-content.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import { withTimeout } from '../../domain/timeout.ts';
import type {
  OnDemandAnswer,
  OnDemandOrigin,
  OnDemandSource,
  OriginAnswer,
  ReadPlaylist,
} from '../../origin/origin.ts';
import type { Tx } from '../../store/store.ts';
import { bySystem, type SystemDependencies } from '../context.ts';
import { layersId } from '../schedules/layers.ts';
import {
  hasSameContent,
  putNextVersion,
  storeItems,
  versionContent,
  withdrawVersion,
} from '../versions/versions.ts';
import type { ServedVersions } from './served-versions.ts';

/**
 * Maximum age of a kept playlist after the source began to report no playlist. The playlist is then
 * withdrawn (docs/protocol.md §2.3).
 */
const maxKeptMs = 24 * hourMs;
const writeTimeoutMs = 2000;
/**
 * Maximum number of calls per refresh. A call is repeated if another instance records another
 * answer meanwhile.
 */
const maxRefreshCalls = 3;

export interface OnDemandVersionsOptions {
  source: OnDemandSource;
  read: ReadPlaylist;
  served: Pick<ServedVersions, 'newest'>;
}

/**
 * Returns whether a row is an active playlist from the source. Such a row is kept for at most 24
 * hours while the source reports that there is no playlist.
 */
function isKeptAnswer(row: Playlist | undefined, nowMs: number): row is Playlist {
  return (
    row !== undefined && row.origin === 'on-demand' && playlistStatusAt(row, nowMs) === 'active'
  );
}

type KnownVersion = Pick<
  Playlist,
  'playlistId' | 'version' | 'publishedAt' | 'contentId' | 'validUntil'
>;

/**
 * Remembers the last version of each screen that the store returned, without its items. The
 * versions are used while the store is unavailable.
 * @param maxScreens limit of remembered screens, which take about 250 bytes each; the oldest entry
 * is evicted
 */
export function makeLastKnownVersions(maxScreens = 200_000) {
  const versions = new Map<string, KnownVersion>();
  return {
    /**
     * Remembers the version and the content id of the row that the store returned. If the row
     * is missing or not active, forgets the version of the screen.
     */
    remember(screenId: string, row: Playlist | undefined, nowMs: number): void {
      if (!row || playlistStatusAt(row, nowMs) !== 'active') {
        versions.delete(screenId);
        return;
      }
      const { playlistId, version, publishedAt, contentId, validUntil } = row;
      if (versions.get(screenId)?.version === version) return;
      versions.set(screenId, { playlistId, version, publishedAt, contentId, validUntil });
      const [oldest] = versions.keys();
      if (versions.size > maxScreens && oldest !== undefined) versions.delete(oldest);
    },

    /** Returns the last known version if its content equals `content`. */
    versionOf({ id: screenId, tenantId }: Screen, content: PlaylistContent): Playlist | undefined {
      const last = versions.get(screenId);
      if (
        last?.contentId !== contentId(tenantId, content) ||
        last.validUntil !== content.validUntil
      )
        return undefined;
      return {
        ...last,
        id: screenId,
        screenId,
        tenantId,
        state: 'active',
        past: [],
        hasMedia: content.mediaIds.length > 0,
        origin: 'on-demand',
        noneSince: null,
      };
    },
  };
}

/**
 * Adapts the on-demand source to an origin, and assigns versions to its answers. Content that
 * differs from the active version is stored as the next version before it is served. If the store
 * cannot record it, the origin fails, unless the last known version has the same content.
 */
export function makeOnDemandVersions(
  deps: SystemDependencies,
  { source, read, served }: OnDemandVersionsOptions,
): OnDemandOrigin {
  const { store, clock } = deps;
  const lastKnown = makeLastKnownVersions();
  const recording = new WeakMap<OnDemandAnswer, Promise<Playlist | undefined>>();
  const versionOfAnswer = new WeakMap<OnDemandAnswer, number>();
  const handledNone = new WeakSet<OnDemandAnswer>();
  const write = <T>(change: (tx: Tx) => Promise<T>) =>
    withTimeout(clock, writeTimeoutMs, store.write(change));

  /**
   * Returns whether another call recorded a version after the call of this answer had begun. The
   * answer may be older than that version, so it must not replace that version.
   * @param base the version recorded for the answer, or the version before its call
   */
  function isOutdated(
    row: Playlist | undefined,
    base: number | undefined,
    nowMs: number,
  ): row is Playlist {
    return base !== undefined && isKeptAnswer(row, nowMs) && row.version > base;
  }

  /** Records the answer. Returns `undefined` if the screen was deleted. */
  async function record(
    screen: Screen,
    content: PlaylistContent,
    base: number | undefined,
  ): Promise<Playlist | undefined> {
    const row = await write(async (tx) => {
      if (!(await tx.get('screens', screen.id))) return undefined;
      const before = await tx.get('playlists', screen.id);
      if (!hasSameContent(before, versionContent(screen.tenantId, content), tx.now)) {
        if (isOutdated(before, base, tx.now)) return before;
        const stored = await storeItems(tx, screen.tenantId, content);
        return putNextVersion(deps, tx, bySystem, {
          screen,
          previous: before,
          layers: await tx.get('layers', layersId('screen', screen.id)),
          noted: await tx.get('screenContents', screen.id),
          content: stored,
          origin: 'on-demand',
        });
      }
      if (before.noneSince === null) return before;
      const row = { ...before, noneSince: null };
      await tx.put('playlists', row);
      return row;
    });
    lastKnown.remember(screen.id, row, clock.now());
    return row;
  }

  /** Single flight: requests that got the same answer share one change of the store. */
  function recordOnce(
    screen: Screen,
    answer: OnDemandAnswer,
    content: PlaylistContent,
    base: number | undefined,
  ): Promise<Playlist | undefined> {
    const inFlight = recording.get(answer);
    if (inFlight) return inFlight;
    const row = record(screen, content, base).finally(() => recording.delete(answer));
    recording.set(answer, row);
    return row;
  }

  /**
   * Returns the version for an answer. Returns the newer version if another answer was recorded
   * meanwhile. Returns `undefined` if the screen was deleted.
   */
  async function versionOf(
    screen: Screen,
    answer: OnDemandAnswer,
    content: PlaylistContent,
  ): Promise<Playlist | undefined> {
    try {
      const [row, versionBefore] = await Promise.all([read(screen.id), answer.versionBefore]);
      lastKnown.remember(screen.id, row, clock.now());
      const base = versionOfAnswer.get(answer) ?? versionBefore;
      const named = versionContent(screen.tenantId, content);
      const isSame = hasSameContent(row, named, clock.now()) && row.noneSince === null;
      const current =
        isSame || isOutdated(row, base, clock.now())
          ? row
          : await recordOnce(screen, answer, content, base);
      if (hasSameContent(current, named, clock.now())) versionOfAnswer.set(answer, current.version);
      else source.forget(screen.id, answer);
      return current;
    } catch (error) {
      const row = lastKnown.versionOf(screen, content);
      if (row && row.version >= (await served.newest(screen))) return row;
      throw error;
    }
  }

  /**
   * Records when the source began to report no playlist, and withdraws the kept playlist after
   * `maxKeptMs`. A failed write is retried with the next answer of the source.
   */
  async function recordNone({ id }: Screen, answer: OnDemandAnswer): Promise<void> {
    if (handledNone.has(answer)) return;
    handledNone.add(answer);
    // A time ahead is from a clock that ran fast.
    const isUnmarked = ({ noneSince }: Playlist, nowMs: number) =>
      noneSince === null || !hasBegun(nowMs, noneSince);
    const isDue = (row: Playlist, nowMs: number) =>
      isUnmarked(row, nowMs) || nowMs - Number(row.noneSince) >= maxKeptMs;
    const row = await read(id);
    if (!isKeptAnswer(row, clock.now()) || !isDue(row, clock.now())) return;
    await write(async (tx) => {
      const row = await tx.get('playlists', id);
      if (!isKeptAnswer(row, tx.now) || !isDue(row, tx.now)) return;
      if (isUnmarked(row, tx.now)) await tx.put('playlists', { ...row, noneSince: tx.now });
      else await withdrawVersion(deps, tx, bySystem, await tx.get('screens', id), row);
    });
  }

  /** Returns the version in the store, or `undefined` if it cannot be read. */
  async function readVersion({ id }: Screen): Promise<number | undefined> {
    try {
      return (await read(id))?.version ?? 0;
    } catch {
      return undefined;
    }
  }

  async function ask(screen: Screen, isRefresh: boolean) {
    const answer = await source.ask(screen, { isRefresh, readVersion: () => readVersion(screen) });
    const { content } = answer;
    // Expired content counts as no playlist.
    if (content !== null && (content.validUntil === null || content.validUntil > clock.now()))
      return { content, playlist: await versionOf(screen, answer, content) };
    await recordNone(screen, answer).catch(() => undefined);
    return {};
  }

  function originAnswer({ content, playlist }: Awaited<ReturnType<typeof ask>>): OriginAnswer {
    if (!playlist) return { kind: 'none' };
    const isOfAnswer = playlist.contentId === contentId(playlist.tenantId, content);
    return { kind: 'playlist', playlist, ...(isOfAnswer && { items: content.items }) };
  }

  return {
    name: 'on-demand',
    fetch: async (screen) => originAnswer(await ask(screen, false)),

    async refresh(screen) {
      for (let calls = 1; ; calls++) {
        const answer = await ask(screen, true);
        const { content, playlist } = answer;
        const isOther =
          content &&
          playlist &&
          !hasSameContent(playlist, versionContent(screen.tenantId, content), clock.now());
        if (!isOther || calls === maxRefreshCalls) return originAnswer(answer);
      }
    },
  };
}
