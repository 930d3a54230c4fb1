import type { Screen } from '../../domain/records/rows.ts';
import type { Layers, StoredSchedule, StoredTakeover } from '../../domain/schedule/rows.ts';
import type { Reader, Tx } from '../../store/store.ts';

/** The levels that can have a schedule. */
export type ScheduleLevel = 'screen' | 'venue';

export const layersId = (level: ScheduleLevel, ownerId: string) => `${level}/${ownerId}`;

/** The layers of a screen, and those of its venue. */
export interface ScreenLayers {
  own: Layers | undefined;
  venue: Layers | undefined;
}

export async function readLayers(
  reader: Pick<Reader, 'get'>,
  { id, venueId }: Pick<Screen, 'id' | 'venueId'>,
): Promise<ScreenLayers> {
  const [own, venue] = await Promise.all([
    reader.get('layers', layersId('screen', id)),
    reader.get('layers', layersId('venue', venueId)),
  ]);
  return { own, venue };
}

/** Returns the takeover of the layers that has not ended. */
export function activeTakeover({ own }: ScreenLayers, nowMs: number): StoredTakeover | undefined {
  return own?.takeover && own.takeover.until > nowMs ? own.takeover : undefined;
}

export function scheduleOf({ own, venue }: ScreenLayers): StoredSchedule | undefined {
  return own?.schedule ?? venue?.schedule ?? undefined;
}

/** Whether a screen has or had a schedule or a takeover. Few screens do. */
export function hasLayers(layers: ScreenLayers, nowMs: number): boolean {
  return (
    layers.own?.delivered != null ||
    scheduleOf(layers) !== undefined ||
    activeTakeover(layers, nowMs) !== undefined
  );
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
