import { isDeepStrictEqual } from 'node:util';
import type { LayersInputs, PastInputs, PlaylistInputs } from '../../domain/planned/rows.ts';
import type { Device, Playlist, Screen, Venue } from '../../domain/records/rows.ts';
import type { Layers } from '../../domain/schedule/rows.ts';
import type { Rows, Store, TableName, Tx } from '../../store/store.ts';
import { decorateStore } from '../store-decorator.ts';

export const screenInputs = ({ deviceId, hours, hoursExceptions }: Screen) => ({
  deviceId,
  hours,
  ...(hoursExceptions && { hoursExceptions }),
});

export const venueInputs = ({ timezone, hours, hoursExceptions }: Venue) => ({
  timezone,
  hours,
  ...(hoursExceptions && { hoursExceptions }),
});

export const layersInputs = (row: Layers | undefined): LayersInputs => ({
  schedule: row?.schedule ?? null,
  takeover: row?.takeover ?? null,
});

/** An on-demand source changes its playlists all day, so their contents are not told apart. */
export function playlistInputs(row: Playlist | undefined): PlaylistInputs {
  if (row?.state !== 'active') return null;
  const { origin, contentId, validUntil } = row;
  return { contentId: origin === 'on-demand' ? null : contentId, validUntil };
}

/** Whether the on-demand source gave a playlist before the one before had ended. */
const goesOn = (before: PlaylistInputs, after: PlaylistInputs, nowMs: number) =>
  before?.contentId === null &&
  after?.contentId === null &&
  (before.validUntil ?? nowMs + 1) > nowMs;

const ended = {
  venues: (before: Venue | undefined, after: Venue | undefined) => {
    const venue = before && venueInputs(before);
    const isSame = isDeepStrictEqual(venue, after && venueInputs(after));
    return venue && !isSame ? { ownerId: before.id, venue } : undefined;
  },
  screens: (before: Screen | undefined, after: Screen | undefined) => {
    const screen = before && screenInputs(before);
    const isSame = isDeepStrictEqual(screen, after && screenInputs(after));
    return screen && !isSame
      ? { ownerId: before.id, screen: { ...screen, simulated: false } }
      : undefined;
  },
  layers: (before: Layers | undefined, after: Layers | undefined) => {
    const layers = layersInputs(before);
    const ownerId = (before ?? after)?.ownerId;
    return ownerId === undefined || isDeepStrictEqual(layers, layersInputs(after))
      ? undefined
      : { ownerId, layers };
  },
  playlists: (before: Playlist | undefined, after: Playlist | undefined, nowMs: number) => {
    const playlist = playlistInputs(before);
    const next = playlistInputs(after);
    const ownerId = (before ?? after)?.screenId;
    return ownerId === undefined ||
      isDeepStrictEqual(playlist, next) ||
      goesOn(playlist, next, nowMs)
      ? undefined
      : { ownerId, playlist };
  },
  /** What a device was is kept with its screen. */
  devices: () => undefined,
};

type Table = keyof typeof ended;
type Ended = Pick<PastInputs, 'ownerId' | 'screen' | 'venue' | 'layers' | 'playlist'>;
type Deleted = Pick<PastInputs, 'ownerId' | 'deleted'>;
/** Rows that a change has touched, as they were before, by table and id. */
type RowsBefore = Map<string, { table: Table; id: string; before: Rows[Table] | undefined }>;

const isInput = (table: TableName): table is Table => Object.hasOwn(ended, table);
const keyOf = (table: Table, id: string) => `${table}/${id}`;

/** Returns what a change has ended. `rows` are those that it has touched. */
async function* endedBy(tx: Tx, rows: RowsBefore): AsyncGenerator<PastInputs> {
  const rowOf = (tenantId: string, name: string, inputs: Ended | Deleted): PastInputs => ({
    ...inputs,
    id: `${inputs.ownerId}/${tx.stamp}/${tx.now}/${name}`,
    tenantId,
    stamp: tx.stamp,
    until: tx.now,
  });

  for (const { table, id, before } of rows.values()) {
    const after = await tx.get(table, id);
    const describe = ended[table] as (...args: unknown[]) => Ended | undefined;
    const inputs = describe(before, after, tx.now);
    const { tenantId } = (before ?? after ?? {}) as { tenantId: string };
    if (!inputs) continue;
    const { screen } = inputs;
    if (screen?.deviceId != null) {
      const device =
        rows.get(keyOf('devices', screen.deviceId))?.before ??
        (await tx.get('devices', screen.deviceId));
      screen.simulated = (device as Device | undefined)?.simulated === true;
    }
    yield rowOf(tenantId, table, inputs);
    if (table !== 'screens' || after) continue;
    const { venueId, createdAt } = before as Screen;
    yield rowOf(tenantId, id, { ownerId: tenantId, deleted: { id, venueId, createdAt } });
  }
}

/**
 * Keeps what decided what was due on screens, as far as a change ends it: hours, time zones, bound
 * devices, schedules, takeovers and playlists. Coverage follows from it (docs/protocol.md §5.6).
 */
export function withPastInputs(store: Store): Store {
  /** The changes that ended inputs at the newest stamp, by the ids of the kept rows. */
  const endedNow = new Map<string, object>();
  let newestStamp = 0;

  /** What began at the same stamp has lasted no time, and must not replace what was before. */
  function isFirst(id: string, stamp: number, change: object): boolean {
    if (stamp > newestStamp) endedNow.clear();
    newestStamp = Math.max(newestStamp, stamp);
    if (!endedNow.has(id)) endedNow.set(id, change);
    // The store may run a change again.
    return endedNow.get(id) === change;
  }

  async function write<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await store.write(async (tx) => {
        const rows: RowsBefore = new Map();
        const note = async (table: TableName, id: string) => {
          if (!isInput(table) || rows.has(keyOf(table, id))) return;
          rows.set(keyOf(table, id), { table, id, before: await tx.get(table, id) });
        };
        const noting = decorateStore(tx, {
          async put(table, row) {
            await note(table, row.id);
            await tx.put(table, row);
          },
          async delete(table, id) {
            await note(table, id);
            await tx.delete(table, id);
          },
        });
        const result = await change(noting);
        for await (const row of endedBy(tx, rows))
          if (isFirst(row.id, tx.stamp, change)) await tx.put('pastInputs', row);
        return result;
      });
    } catch (error) {
      for (const [id, by] of endedNow) if (by === change) endedNow.delete(id);
      throw error;
    }
  }

  return decorateStore(store, { write });
}
