import { createHash } from 'node:crypto';
import { playlistStatusAt } from '../../domain/records/playlist.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import type { OnDemandContent } from '../../origin/origin.ts';

type Known = Pick<Playlist, 'playlistId' | 'version' | 'publishedAt'> & { digest: string };

function digestOf({ items, validUntil }: OnDemandContent): string {
  return createHash('sha256').update(`${validUntil} ${items}`).digest('base64url');
}

/**
 * The last version of each screen that the store was seen to have, without its items: for the time in which the store does not answer.
 *
 * @param mostScreens beyond which those that were noted first go; some 250 bytes each
 */
export function makeLastKnownVersions(mostScreens = 200_000) {
  const known = new Map<string, Known>();
  return {
    /** Notes what the store has; what is not in force is no version to serve. */
    note(screenId: string, row: Playlist | undefined, nowMs: number): void {
      if (!row || playlistStatusAt(row, nowMs) !== 'active') {
        known.delete(screenId);
        return;
      }
      const { playlistId, version, publishedAt } = row;
      if (known.get(screenId)?.version === version) return;
      known.set(screenId, { playlistId, version, publishedAt, digest: digestOf(row) });
      const [oldest] = known.keys();
      if (known.size > mostScreens && oldest !== undefined) known.delete(oldest);
    },

    /** The version that has exactly this content, if it is the last known one. */
    versionOf({ id: screenId, tenantId }: Screen, content: OnDemandContent): Playlist | undefined {
      const last = known.get(screenId);
      if (last?.digest !== digestOf(content)) return undefined;
      const { playlistId, version, publishedAt } = last;
      return {
        id: screenId,
        screenId,
        tenantId,
        playlistId,
        version,
        state: 'active',
        ...content,
        publishedAt,
        origin: 'on-demand',
      };
    },
  };
}
