import { iso } from '../../domain/clock.ts';
import { invalid, SignageError } from '../../domain/error.ts';
import { checkPrecondition, type Precondition, revision } from '../../domain/etags/etag.ts';
import { publishedContent } from '../../domain/playlists/playlist-content.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { Layers, StoredTakeover } from '../../domain/schedule/rows.ts';
import type { Takeover, TakeoverView } from '../../domain/schedule/schedule.ts';
import type { Reader, Tx } from '../../store/store.ts';
import { type Principal, recordChange, type ServiceDependencies } from '../context.ts';
import { lookUp } from '../lookup.ts';
import { requireMedia } from '../media/media-uses.ts';
import type { PlaylistQuota } from '../versions/playlist-quota.ts';
import { storeItems } from '../versions/versions.ts';
import { activeTakeover, layersId, layersOf } from './layers.ts';
import { readItems } from './schedules.ts';

/** Stores the items of a takeover. Throws `invalid_request` if its end is not in the future. */
export async function storeTakeover(
  tx: Tx,
  principal: Principal,
  tenantId: string,
  { items, until }: Takeover,
  quota: PlaylistQuota,
): Promise<StoredTakeover> {
  const endMs = Math.floor(until / 1000) * 1000;
  if (endMs <= tx.now) throw invalid([{ path: '/until', message: 'must be in the future' }]);
  const content = publishedContent(tenantId, items, null);
  await requireMedia(tx, principal, content.mediaIds);
  const { contentId, mediaIds } = await storeItems(tx, tenantId, content, quota);
  const bytes = Buffer.byteLength(content.items);
  return { contentId, mediaIds, bytes, since: tx.now, until: endMs };
}

/** Puts a takeover above everything else on a screen, in place of another one. */
export async function putTakeover(
  deps: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  principal: Principal,
  { screen, layers, takeover }: { screen: Screen; layers: Layers; takeover: StoredTakeover },
): Promise<void> {
  await tx.put('layers', { ...layers, takeover });
  await recordChange(deps, tx, principal, {
    action: 'takeover.set',
    subject: { kind: 'screen', id: screen.id },
    tenantId: screen.tenantId,
    venueIds: [screen.venueId],
    details: { until: iso(takeover.until) },
  });
}

/** A takeover and its revision (docs/protocol.md §5.10). */
export interface RevisedTakeover {
  takeover: TakeoverView;
  etag: string;
}

/** Returns the revision of the takeover that has not ended. */
export function takeoverRevision(own: Layers | undefined, nowMs: number): string | undefined {
  const takeover = activeTakeover({ own, venue: undefined }, nowMs);
  return takeover && revision.takeover(takeover);
}

async function viewOf(
  reader: Pick<Reader, 'get'>,
  stored: StoredTakeover,
): Promise<RevisedTakeover> {
  const { contentId, since, until } = stored;
  const items = await readItems(reader, contentId);
  const takeover = { items, until: until / 1000, since: iso(since) };
  return { takeover, etag: revision.takeover(stored) };
}

/** Takeovers of screens, which end by themselves (docs/protocol.md §5.18). */
export function makeTakeovers(deps: ServiceDependencies, quota: PlaylistQuota) {
  const { store, clock } = deps;
  return {
    /** Throws `takeover_not_found`, also after the end. */
    async get(principal: Principal, screenId: string): Promise<RevisedTakeover> {
      const screen = await lookUp(store.read, principal, 'screen', screenId);
      const own = await store.read.get('layers', layersId('screen', screen.id));
      const takeover = activeTakeover({ own, venue: undefined }, clock.now());
      if (!takeover)
        throw new SignageError('takeover_not_found', 'There is no takeover on this screen now.');
      return viewOf(store.read, takeover);
    },

    /** Throws `invalid_request`, `media_not_found`. */
    async put(
      principal: Principal,
      screenId: string,
      body: Takeover,
      precondition: Precondition = {},
    ): Promise<RevisedTakeover> {
      const change = async (tx: Tx) => {
        const screen = await lookUp(tx, principal, 'screen', screenId);
        const layers = await layersOf(tx, 'screen', screen);
        checkPrecondition(precondition, takeoverRevision(layers, tx.now));
        const takeover = await storeTakeover(tx, principal, screen.tenantId, body, quota);
        await putTakeover(deps, tx, principal, { screen, layers, takeover });
        return viewOf(tx, takeover);
      };
      return quota.run(() => deps.write(principal, change));
    },

    async remove(
      principal: Principal,
      screenId: string,
      precondition: Precondition = {},
    ): Promise<void> {
      await deps.write(principal, async (tx) => {
        const screen = await lookUp(tx, principal, 'screen', screenId);
        const layers = await layersOf(tx, 'screen', screen);
        checkPrecondition(precondition, takeoverRevision(layers, tx.now));
        if (!layers.takeover) return;
        await tx.put('layers', { ...layers, takeover: null });
        if (layers.takeover.until <= tx.now) return;
        await recordChange(deps, tx, principal, {
          action: 'takeover.clear',
          subject: { kind: 'screen', id: screen.id },
          tenantId: screen.tenantId,
          venueIds: [screen.venueId],
        });
      });
    },
  };
}
