import type { PastInputs } from '../../domain/planned/rows.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { slicesOf } from '../../store/store.ts';
import type { ServiceDependencies } from '../context.ts';
import type { PlayFilter } from '../reports/play-totals.ts';
import { layersId } from '../schedules/layers.ts';
import { layersInputs, playlistInputs, screenInputs, venueInputs } from './past-inputs.ts';
import type { InputHistory, Inputs } from './planned.ts';

/** Screens whose past is read at a time: each read looks into most documents. */
const screensPerSlice = 1000;

export interface ScreenHistory {
  screen: Pick<Screen, 'id' | 'venueId' | 'createdAt'> & { deletedAt: number | undefined };
  history: InputHistory;
}

type VenueHistory = { rows: readonly PastInputs[]; present: Pick<Inputs, 'venue' | 'ofVenue'> };

/** Reads what decided what was due on screens. */
export function makeHistories({ store }: Pick<ServiceDependencies, 'store'>) {
  const { read } = store;

  async function ofVenue(id: string): Promise<VenueHistory> {
    const [rows, venue, layers] = await Promise.all([
      read.select('pastInputs', 'ownerId', [id]),
      read.get('venues', id),
      read.get('layers', layersId('venue', id)),
    ]);
    return {
      rows,
      present: { venue: venue && venueInputs(venue), ofVenue: layersInputs(layers) },
    };
  }

  async function presentOf(screen: Screen): Promise<Omit<Inputs, 'venue' | 'ofVenue'>> {
    const { id, deviceId } = screen;
    const [device, playlist, layers] = await Promise.all([
      deviceId === null ? undefined : read.get('devices', deviceId),
      read.get('playlists', id),
      read.get('layers', layersId('screen', id)),
    ]);
    return {
      screen: { ...screenInputs(screen), simulated: device?.simulated === true },
      playlist: playlistInputs(playlist),
      own: layersInputs(layers),
    };
  }

  /** Yields present and deleted screens in groups. */
  async function* screensOf(tenantId: string) {
    for await (const items of slicesOf(store, 'screens', {
      where: { tenantId },
      limit: screensPerSlice,
    }))
      yield items.map((row) => ({ ...row, row, deletedAt: undefined }));
    const deleted = await read.select('pastInputs', 'ownerId', [tenantId]);
    for (let start = 0; start < deleted.length; start += screensPerSlice)
      yield deleted
        .slice(start, start + screensPerSlice)
        .flatMap((one) =>
          one.deleted ? [{ ...one.deleted, row: undefined, deletedAt: one.until }] : [],
        );
  }

  /** Yields the screens of a report, also those that were deleted. */
  return async function* (
    tenantId: string,
    { venueIds, screenIds }: Pick<PlayFilter, 'venueIds' | 'screenIds'>,
  ): AsyncGenerator<ScreenHistory> {
    const venues = new Map<string, Promise<VenueHistory>>();
    for await (const slice of screensOf(tenantId)) {
      const chosen = slice.filter(
        ({ id, venueId }) => (venueIds?.has(venueId) ?? true) && (screenIds?.has(id) ?? true),
      );
      const past = await read.select(
        'pastInputs',
        'ownerId',
        chosen.map(({ id }) => id),
      );
      const byScreen = new Map<string, PastInputs[]>();
      for (const row of past) {
        const rows = byScreen.get(row.ownerId) ?? [];
        rows.push(row);
        byScreen.set(row.ownerId, rows);
      }
      for (const { id, venueId, createdAt, deletedAt, row } of chosen) {
        const venue = venues.get(venueId) ?? ofVenue(venueId);
        venues.set(venueId, venue);
        const { rows, present } = await venue;
        const own = row
          ? await presentOf(row)
          : { screen: undefined, playlist: null, own: undefined };
        yield {
          screen: { id, venueId, createdAt, deletedAt },
          history: {
            own: byScreen.get(id) ?? [],
            ofVenue: rows,
            present: { ...present, ...own },
          },
        };
      }
    }
  };
}
