import { hourMs } from '../../domain/clock.ts';
import { playlistStatusAt } from '../../domain/records/playlist.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import { withTimeout } from '../../domain/timeout.ts';
import type {
  OnDemandAnswer,
  OnDemandContent,
  OnDemandSource,
  ReadPlaylist,
  RemoteOrigin,
} from '../../origin/origin.ts';
import type { Tx } from '../../store/store.ts';
import { type AuditActor, type SystemDependencies, system } from '../context.ts';
import { makeLastKnownVersions } from './last-known-versions.ts';
import type { ServedVersions } from './served-versions.ts';
import { holds, putNextVersion, withdrawVersion } from './versions.ts';

/** When the source has said "none" for this long, its kept answer is withdrawn (docs/protocol.md §2.3). */
const keptMs = 24 * hourMs;
const writeTimeoutMs = 2000;
const bySystem: AuditActor = { actor: system, address: null, requestId: null };

export interface OnDemandVersionsOptions {
  source: OnDemandSource;
  read: ReadPlaylist;
  served: Pick<ServedVersions, 'newest'>;
}

/** Whether a row is the source's answer, kept for the time in which it has none. */
function isKept(row: Playlist | undefined, nowMs: number): row is Playlist {
  return (
    row !== undefined && row.origin === 'on-demand' && playlistStatusAt(row, nowMs) === 'active'
  );
}

/**
 * The on-demand source as an origin. Its answers get their versions here: content that differs from the active version is the next one, kept in the
 * store before it is served. What the store cannot record just now has failed, unless it is the version that was known last.
 */
export function makeOnDemandVersions(
  deps: SystemDependencies,
  { source, read, served }: OnDemandVersionsOptions,
): RemoteOrigin {
  const { store, clock } = deps;
  const known = makeLastKnownVersions();
  const recording = new WeakMap<OnDemandAnswer, Promise<Playlist | undefined>>();
  const became = new WeakMap<OnDemandAnswer, number>();
  const noted = new WeakSet<OnDemandAnswer>();
  const write = <T>(change: (tx: Tx) => Promise<T>) =>
    withTimeout(clock, writeTimeoutMs, store.write(change));

  /** `undefined` when the screen is gone. */
  async function record(screen: Screen, content: OnDemandContent): Promise<Playlist | undefined> {
    const row = await write(async (tx) => {
      if (!(await tx.get('screens', screen.id))) return undefined;
      const before = await tx.get('playlists', screen.id);
      if (!holds(before, content, tx.now))
        return putNextVersion(deps, tx, bySystem, screen, content, 'on-demand');
      const { noneSince, ...rest } = before;
      if (noneSince !== undefined) await tx.put('playlists', rest);
      return rest;
    });
    known.note(screen.id, row, clock.now());
    return row;
  }

  /** All who were given one answer share one change. */
  function recordOnce(
    screen: Screen,
    answer: OnDemandAnswer,
    content: OnDemandContent,
  ): Promise<Playlist | undefined> {
    const other = recording.get(answer);
    if (other) return other;
    const row = record(screen, content).finally(() => recording.delete(answer));
    recording.set(answer, row);
    return row;
  }

  /** Whether another instance has recorded a newer answer since this one, which is still held here, became a version. */
  function isOutdone(answer: OnDemandAnswer, row: Playlist): boolean {
    const version = became.get(answer);
    return version !== undefined && isKept(row, clock.now()) && row.version > version;
  }

  async function versionOf(
    screen: Screen,
    answer: OnDemandAnswer,
    content: OnDemandContent,
  ): Promise<Playlist | undefined> {
    try {
      const row = await read(screen.id);
      known.note(screen.id, row, clock.now());
      if (row && isOutdone(answer, row)) return row;
      const mine =
        holds(row, content, clock.now()) && row.noneSince === undefined
          ? row
          : await recordOnce(screen, answer, content);
      if (mine) became.set(answer, mine.version);
      return mine;
    } catch (error) {
      const row = known.versionOf(screen, content);
      if (row && row.version >= (await served.newest(screen))) return row;
      throw error;
    }
  }

  /** Notes since when the source has none, and ends what is kept when that was long enough. What cannot be noted now is at its next answer. */
  async function noteNone({ id }: Screen, answer: OnDemandAnswer): Promise<void> {
    if (noted.has(answer)) return;
    noted.add(answer);
    const isDue = (row: Playlist, nowMs: number) =>
      row.noneSince === undefined || nowMs - row.noneSince >= keptMs;
    const seen = await read(id);
    if (!isKept(seen, clock.now()) || !isDue(seen, clock.now())) return;
    await write(async (tx) => {
      const row = await tx.get('playlists', id);
      if (!isKept(row, tx.now) || !isDue(row, tx.now)) return;
      if (row.noneSince === undefined) await tx.put('playlists', { ...row, noneSince: tx.now });
      else await withdrawVersion(deps, tx, bySystem, row);
    });
  }

  return {
    name: 'on-demand',
    async fetch(screen) {
      const answer = await source.ask(screen);
      const { content } = answer;
      // What has ended counts as none.
      if (content !== null && (content.validUntil === null || content.validUntil > clock.now())) {
        const playlist = await versionOf(screen, answer, content);
        return playlist ? { kind: 'playlist', playlist } : { kind: 'none' };
      }
      await noteNone(screen, answer).catch(() => undefined);
      return { kind: 'none' };
    },
  };
}
