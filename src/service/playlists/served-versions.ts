import { type Clock, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { withTimeout } from '../../domain/timeout.ts';
import type { OriginAnswer, PlaylistOrigin } from '../../origin/origin.ts';
import type { Store } from '../../store/store.ts';

/**
 * Tracks the playlist versions that TVs have received, so that no fallback origin serves an older
 * version.
 */
export interface ServedVersions {
  /** Records a served version. */
  note(screenId: string, version: number): void;
  /**
   * Returns the newest version that this instance served to the screen. If it has served none to
   * the screen, returns the last version in the TV's activity record, or 0.
   */
  newest(screen: Screen): Promise<number>;
  /**
   * Decorates an origin. A copy older than the served version counts as a failure (docs/protocol.md
   * §2.3).
   */
  notOlder(origin: PlaylistOrigin): PlaylistOrigin;
}

/** Maximum wait for the store. It is short, because the store may be unavailable. */
const storeTimeoutMs = secondMs;

function versionOf(answer: OriginAnswer): number | undefined {
  if (answer.kind === 'none') return undefined;
  return answer.kind === 'playlist' ? answer.playlist.version : answer.version;
}

/**
 * Returns a `ServedVersions` that keeps the served versions in memory. One id and one version per
 * screen take about 10 MB for 100,000 screens.
 */
export function makeServedVersions(store: Pick<Store, 'marks'>, clock: Clock): ServedVersions {
  const newestOf = new Map<string, number>();

  async function lastStoredVersion({ deviceId }: Screen): Promise<number> {
    if (deviceId === null) return 0;
    const { lastPlaylistVersion } = await withTimeout(
      clock,
      storeTimeoutMs,
      store.marks('device', deviceId),
    );
    return lastPlaylistVersion ?? 0;
  }

  const newest = async (screen: Screen) =>
    newestOf.get(screen.id) ?? (await lastStoredVersion(screen).catch(() => 0));

  return {
    note(screenId, version) {
      if (version > (newestOf.get(screenId) ?? 0)) newestOf.set(screenId, version);
    },
    newest,
    notOlder: (origin) => ({
      name: origin.name,
      async fetch(screen) {
        const [answer, served] = await Promise.all([origin.fetch(screen), newest(screen)]);
        const version = versionOf(answer);
        if (version === undefined || version >= served) return answer;
        throw new SignageError(
          'origin_outdated',
          `The copy has version ${version}, but a newer version was served already.`,
        );
      },
    }),
  };
}
