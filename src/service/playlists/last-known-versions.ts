import { createHash } from 'node:crypto';
import { playlistStatusAt } from '../../domain/records/playlist.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import type { OnDemandContent } from '../../origin/origin.ts';

type KnownVersion = Pick<Playlist, 'playlistId' | 'version' | 'publishedAt'> & { digest: string };

function digestOf({ items, validUntil }: OnDemandContent): string {
  return createHash('sha256').update(`${validUntil} ${items}`).digest('base64url');
}

/**
 * Remembers the last version of each screen that the store returned, without its items. Used while
 * the store is unavailable.
 *
 * @param maxScreens limit of remembered screens, some 250 bytes each; the oldest entry is evicted
 */
export function makeLastKnownVersions(maxScreens = 200_000) {
  const versions = new Map<string, KnownVersion>();
  return {
    /** Remembers the row that the store returned. A playlist that is not active is forgotten. */
    remember(screenId: string, row: Playlist | undefined, nowMs: number): void {
      if (!row || playlistStatusAt(row, nowMs) !== 'active') {
        versions.delete(screenId);
        return;
      }
      const { playlistId, version, publishedAt } = row;
      if (versions.get(screenId)?.version === version) return;
      versions.set(screenId, { playlistId, version, publishedAt, digest: digestOf(row) });
      const [oldest] = versions.keys();
      if (versions.size > maxScreens && oldest !== undefined) versions.delete(oldest);
    },

    /** Returns the last known version if it has exactly this content. */
    versionOf({ id: screenId, tenantId }: Screen, content: OnDemandContent): Playlist | undefined {
      const last = versions.get(screenId);
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
