import { secondMs } from '../clock.ts';
import type { LastActivity } from '../records/activity.ts';

/**
 * Whether the layer that is due is on the screen. `shown`: the TV says so. `switching`: the TV has
 * not said so yet. `given`: the TV has fetched it, and does not report what it shows. `failed`: the
 * TV plays what is beneath, because all of the layer fails.
 */
export const layerStates = ['shown', 'switching', 'given', 'failed'] as const;
export type LayerState = (typeof layerStates)[number];

/** A version that is due, and since when, in Unix epoch milliseconds. */
interface DueVersion {
  version: number;
  entryId: string | null;
  sinceMs: number;
  /** Whether a TV has fetched it. Otherwise `version` is the one before. */
  isMet: boolean;
}

/**
 * Judges whether what is due is on the screen (docs/protocol.md §5.15).
 *
 * @param isItsItem whether the layer has this item. A play of it shows what a lost `shown` has not.
 */
export function layerStateOf(
  { version, entryId, sinceMs, isMet }: DueVersion,
  {
    shown,
    lastPlaylistVersion,
    lastPlayAt,
    lastPlayId,
  }: Pick<LastActivity, 'shown' | 'lastPlaylistVersion' | 'lastPlayAt' | 'lastPlayId'>,
  isItsItem: (creativeId: string) => boolean,
): { state: LayerState; sinceMs: number | null } {
  if (shown?.version === version) {
    // A TV that knows what is upcoming switches before it fetches. Events have whole seconds.
    const isOfNow = isMet || shown.at >= Math.floor(sinceMs / secondMs) * secondMs;
    if (shown.isInstead && isOfNow) return { state: 'failed', sinceMs: shown.at };
    if (shown.entryId === entryId && isOfNow) return { state: 'shown', sinceMs: shown.at };
  }
  const hasVersion = isMet && lastPlaylistVersion === version;
  if (!shown && hasVersion) return { state: 'given', sinceMs: null };
  const hasPlayed = lastPlayAt !== undefined && lastPlayAt > sinceMs && lastPlayId != null;
  if (hasVersion && hasPlayed && isItsItem(lastPlayId))
    return { state: 'shown', sinceMs: lastPlayAt };
  return { state: 'switching', sinceMs };
}
