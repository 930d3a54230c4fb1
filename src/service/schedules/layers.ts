import type { MaybePromise } from '../../domain/maybe-promise.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { Layers } from '../../domain/schedule/rows.ts';
import type { Reader, Tx } from '../../store/store.ts';

/** The levels that can have a schedule. */
export type ScheduleLevel = 'screen' | 'venue';

export const layersId = (level: ScheduleLevel, ownerId: string) => `${level}/${ownerId}`;

/** The layers of a screen, and those of its venue. */
export interface ScreenLayers {
  own: Layers | undefined;
  venue: Layers | undefined;
}

/** Reads the layers of a screen, synchronously when the rows are in memory. */
export function readLayers(
  reader: Pick<Reader, 'get'>,
  { id, venueId }: Pick<Screen, 'id' | 'venueId'>,
): MaybePromise<ScreenLayers> {
  const own = reader.get('layers', layersId('screen', id));
  const venue = reader.get('layers', layersId('venue', venueId));
  if (own instanceof Promise || venue instanceof Promise)
    return Promise.all([own, venue]).then(([ofScreen, ofVenue]) => ({
      own: ofScreen,
      venue: ofVenue,
    }));
  return { own, venue };
}

/** Returns the row of a screen or venue that has no layers yet. */
export function emptyLayers(
  level: ScheduleLevel,
  { id, tenantId }: { id: string; tenantId: string },
): Layers {
  const none = { schedule: null, takeover: null, delivered: null };
  return { id: layersId(level, id), tenantId, ownerId: id, ...none };
}

/** Returns the layers of a screen or venue in a change, to be stored with a member replaced. */
export async function layersOf(
  tx: Tx,
  level: ScheduleLevel,
  owner: { id: string; tenantId: string },
): Promise<Layers> {
  return (await tx.get('layers', layersId(level, owner.id))) ?? emptyLayers(level, owner);
}

export async function deleteLayers(tx: Tx, level: ScheduleLevel, ownerId: string): Promise<void> {
  await tx.delete('layers', layersId(level, ownerId));
  for (const { id } of await tx.select('pastSchedules', 'ownerId', [ownerId]))
    await tx.delete('pastSchedules', id);
}
