import { iso } from '../../domain/clock.ts';
import type { Page } from '../../domain/paging.ts';
import { playlistStatusAt } from '../../domain/records/playlist.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { ScreenStatusQuery, ScreenStatusView } from '../../domain/records/screen-status.ts';
import type { PlaylistSummary } from '../../store/queries.ts';
import type { Reader } from '../../store/store.ts';
import type { ServiceDependencies, TenantPrincipal } from '../context.ts';
import { whereVenue } from '../lookup.ts';
import { pageFilters, toPage } from '../paging.ts';
import { viewDevice } from '../pairing/devices.ts';
import { screenView } from '../views.ts';
import { newestCodes } from './screens.ts';

function playlistView(row: PlaylistSummary, nowMs: number): ScreenStatusView['playlist'] {
  return {
    version: row.version,
    status: playlistStatusAt(row, nowMs),
    publishedAt: iso(row.publishedAt),
    validUntil: row.validUntil === null ? null : Math.floor(row.validUntil / 1000),
  };
}

async function boundDevice(reader: Reader, { deviceId }: Screen) {
  const row = deviceId === null ? undefined : await reader.get('devices', deviceId);
  // The device may have been revoked after the screen was read.
  return row?.state === 'bound' ? row : undefined;
}

/** The status of all screens (docs/protocol.md §5.3). */
export function makeScreenStatus({ store, clock }: ServiceDependencies) {
  async function list(
    principal: TenantPrincipal,
    { venueId, selector, ...page }: ScreenStatusQuery,
    signal?: AbortSignal,
  ): Promise<Page<ScreenStatusView>> {
    const slice = await store.list('screens', {
      where: { tenantId: principal.tenantId, ...whereVenue(principal, venueId) },
      ...(selector ? { selector } : {}),
      ...pageFilters(page, signal),
    });
    const ids = slice.items.map(({ id }) => id);
    const nowMs = clock.now();
    const [codes, playlists] = await Promise.all([
      newestCodes(store.read, ids, nowMs),
      store.playlistSummaries(ids, signal),
    ]);

    async function view(row: Screen): Promise<ScreenStatusView> {
      const [venue, device] = await Promise.all([
        store.read.get('venues', row.venueId),
        boundDevice(store.read, row),
      ]);
      const playlist = playlists.get(row.id);
      return {
        at: iso(nowMs),
        venueName: venue?.name ?? '',
        screen: screenView(row, codes.get(row.id), nowMs),
        device: device ? await viewDevice(store, device, nowMs) : null,
        playlist: playlist ? playlistView(playlist, nowMs) : null,
      };
    }

    return toPage(slice, view);
  }

  return { list };
}
