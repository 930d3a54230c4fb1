import { type Clock, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { withTimeout } from '../../domain/timeout.ts';
import type { OriginAnswer, PlaylistOrigin, RemoteOrigin } from '../../origin/origin.ts';
import type { Store } from '../../store/store.ts';

/** Which playlist versions TVs have got, so that no fallback takes them back to an older one. */
export interface ServedVersions {
  note(screenId: string, version: number): void;
  /** The newest version that this instance has served to the screen, or, when it has served none yet, that its TV is known to have; 0 for none. */
  newest(screen: Screen): Promise<number>;
  /** The same origin; a copy that is older than what was served counts as failed (docs/protocol.md §2.3). */
  notOlder(origin: PlaylistOrigin): RemoteOrigin;
}

/** The store may be what has failed. */
const marksTimeoutMs = secondMs;

function versionOf(answer: OriginAnswer): number | undefined {
  if (answer.kind === 'none') return undefined;
  return answer.kind === 'playlist' ? answer.playlist.version : answer.version;
}

/** A version and an id a screen is all that it holds: some 10 MB for 100,000 screens. */
export function makeServedVersions(store: Pick<Store, 'marks'>, clock: Clock): ServedVersions {
  const newestOf = new Map<string, number>();

  async function marked({ deviceId }: Screen): Promise<number> {
    if (deviceId === null) return 0;
    const { lastPlaylistVersion } = await withTimeout(
      clock,
      marksTimeoutMs,
      store.marks('device', deviceId),
    );
    return lastPlaylistVersion ?? 0;
  }

  const newest = async (screen: Screen) =>
    newestOf.get(screen.id) ?? (await marked(screen).catch(() => 0));

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
          `Its copy is version ${version}: newer ones were served.`,
        );
      },
    }),
  };
}
