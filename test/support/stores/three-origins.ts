import { randomBytes } from 'node:crypto';
import { makeIdSource } from '../../../src/domain/id.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { makeOrigins } from '../../../src/origin/chain/origins.ts';
import { makeConfigCopies } from '../../../src/origin/object-store/config-copies.ts';
import {
  makeObjectStoreOrigin,
  makePlaylistCopies,
} from '../../../src/origin/object-store/playlist-copies.ts';
import { openOnDemand } from '../../../src/origin/on-demand/open.ts';
import type { OnDemandPlaylists, PlaylistChain } from '../../../src/origin/origin.ts';
import { makeMirror } from '../../../src/service/mirror/mirror.ts';
import { observedStore } from '../../../src/service/observed-store.ts';
import { makeOnDemandVersions } from '../../../src/service/playlists/on-demand-versions.ts';
import {
  makeServedVersions,
  type ServedVersions,
} from '../../../src/service/playlists/served-versions.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { turns } from '../runtime/turns.ts';
import { mounted } from '../service/mounted.ts';
import { type Answer, adminToken } from '../service/service.ts';
import { type FaultyObjects, faultyObjects } from './faulty-objects.ts';
import { faultyStore } from './faulty-store.ts';

export interface ThreeOrigins {
  clock?: ManualClock;
  /** The on-demand source. Default: none. */
  onDemand?: (() => unknown) | undefined;
  ttlMs?: number;
  /** Location of the store. Default: in memory. */
  location?: string;
  objects?: FaultyObjects;
  /** Mirrors playlists to the object store. */
  mirrored?: boolean;
  /** Replaces parts of the chain of origins. */
  replace?:
    | ((parts: { served: ServedVersions; ask: PlaylistChain }) => {
        served?: ServedVersions;
        ask?: PlaylistChain;
      })
    | undefined;
}

/** Status, source and version of an answer, such as `200 store 3`. */
export function summary({ status, headers }: Answer): string {
  return [status, headers.get('x-source'), headers.get('x-playlist-version')]
    .filter((part) => part !== null)
    .join(' ');
}

/** Builds the service on an on-demand source, a store and an object store that can all fail. */
export async function threeOrigins({
  clock = new ManualClock(),
  onDemand,
  ttlMs = 0,
  location = 'memory:',
  objects = faultyObjects(),
  mirrored = false,
  replace = () => ({}),
}: ThreeOrigins = {}) {
  const inner = await openStore(location, { clock });
  const copies = makePlaylistCopies(objects, clock);
  const observed = observedStore(inner);
  const mirror = mirrored
    ? makeMirror({
        ...observed,
        isShared: false,
        copies,
        configCopies: makeConfigCopies(objects, clock),
        clock,
        random: randomBytes,
        log: silentLog,
      })
    : undefined;
  mirror?.start();
  const store = faultyStore(observed.store);
  const deps = { store, clock, random: randomBytes, newId: makeIdSource(clock) };
  const real = makeServedVersions(store, clock);
  const { served = real } = replace({ served: real, ask: async () => ({ kind: 'none' }) });
  const limits = { ttlMs, timeoutMs: 2000, concurrency: 20 };
  const playlists = onDemand && ((async () => onDemand()) as OnDemandPlaylists);
  const source = await openOnDemand(
    { playlists, url: undefined, token: undefined, ...limits },
    clock,
  );
  const origins = makeOrigins({
    clock,
    reader: store.read,
    isInMemory: false,
    log: silentLog,
    notOlder: served.notOlder,
    onDemand: source && {
      ...source,
      versions: (asked, read) => makeOnDemandVersions(deps, { source: asked, read, served }),
    },
    objectStore: makeObjectStoreOrigin(copies, clock),
  });
  const { ask = origins.ask } = replace({ served, ask: origins.ask });
  const service = await mounted({ store, clock, whole: { origins: { ...origins, ask }, served } });

  /** Advances the clock by a second at a time until the work is done. */
  async function driven<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    work.finally(() => (isDone = true)).catch(() => undefined);
    for (await turns(); !isDone; await turns()) clock.advance(1000);
    return work;
  }

  return {
    service,
    clock,
    store,
    inner,
    objects,
    copies,
    origins,
    driven,
    /** Returns a bound TV. Its key has been used, because the first use is a write of its own. */
    async tv() {
      const tv = await service.tv();
      await service.send('GET', `/devices/${tv.screenId}/config`, { key: tv.apiKey });
      return tv;
    },
    get: (tv: { screenId: string; apiKey: string }) =>
      driven(service.send('GET', `/devices/${tv.screenId}/playlist`, { key: tv.apiKey })),
    publish: (screenId: string, items: unknown[]) =>
      driven(service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items })),
    withdraw: (screenId: string) =>
      driven(service.send('DELETE', `/v1/screens/${screenId}/playlist`, { key: adminToken })),
    async close() {
      if (mirror) await driven(mirror.stop());
      await inner.close();
    },
  };
}

export type Deployment = Awaited<ReturnType<typeof threeOrigins>>;
