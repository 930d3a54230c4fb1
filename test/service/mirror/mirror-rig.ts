import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { makeIdSource } from '../../../src/domain/id.ts';
import { type LogSink, silentLog } from '../../../src/domain/log.ts';
import type { Screen } from '../../../src/domain/records/rows.ts';
import { makeConfigCopies } from '../../../src/origin/object-store/config-copies.ts';
import { makePlaylistCopies } from '../../../src/origin/object-store/playlist-copies.ts';
import { withAuthority } from '../../../src/service/auth/authority.ts';
import { system, type TenantPrincipal } from '../../../src/service/context.ts';
import { type Mirror, makeMirror } from '../../../src/service/mirror/mirror.ts';
import { isUpToDate, readWithItems } from '../../../src/service/mirror/sync.ts';
import { observedStore } from '../../../src/service/observed-store.ts';
import { makeScreens } from '../../../src/service/places/screens.ts';
import { makePlaylists } from '../../../src/service/playlists/playlists.ts';
import { PlaylistQuota } from '../../../src/service/versions/playlist-quota.ts';
import type { Store } from '../../../src/store/store.ts';
import { tenantRow } from '../../store/sample-rows.ts';
import type { ManualClock } from '../../support/runtime/manual-clock.ts';
import { turns } from '../../support/runtime/turns.ts';
import { item } from '../../support/service/content.ts';
import { screenRow } from '../../support/service/playlist-rows.ts';
import type { MemoryObjectStore } from '../../support/stores/memory-object-store.ts';

export const tenantId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';

/** A caller with all rights in the tenant. */
export const principal: TenantPrincipal = {
  actor: system,
  tokenHash: null,
  role: 'operator',
  tenantId,
  venueIds: null,
  expiresAt: null,
  address: null,
  requestId: null,
};

/** Starts an instance of the service, reduced to playlists and their mirror. */
export function instance({
  store,
  objects,
  clock,
  log = silentLog,
}: {
  store: Store;
  objects: MemoryObjectStore;
  clock: ManualClock;
  log?: LogSink;
}) {
  const copies = makePlaylistCopies(objects, clock);
  const observed = observedStore(store);
  const mirror = makeMirror({
    ...observed,
    isShared: true,
    copies,
    configCopies: makeConfigCopies(objects, clock),
    clock,
    random: randomBytes,
    log,
  });
  mirror.start();
  const deps = withAuthority({
    store: observed.store,
    clock,
    random: randomBytes,
    newId: makeIdSource(clock, randomBytes),
  });
  const quota = new PlaylistQuota(observed.store, Number.POSITIVE_INFINITY);
  return {
    copies,
    mirror,
    deps,
    playlists: makePlaylists(deps, quota),
    screens: makeScreens(deps),
  };
}

/** Inserts screens directly into the store. */
export async function insertScreens(
  store: Store,
  count: number,
  called = 'Screen',
): Promise<Screen[]> {
  const screens = Array.from({ length: count }, (_, number) =>
    screenRow({ tenantId, state: 'provisioning', name: `${called} ${number}` }),
  );
  await store.write(async (tx) => {
    await tx.put('tenants', tenantRow(1, { id: tenantId }));
    for (const screen of screens) await tx.put('screens', screen);
  });
  return screens;
}

export const publication = () => ({ items: [item()] as never });

/**
 * Advances the clock until the mirror is idle, in steps small enough that no call in flight times
 * out.
 */
export async function settled(clock: ManualClock, ...mirrors: Mirror[]): Promise<void> {
  await turns(60);
  for (
    let second = 0;
    second < 200 && mirrors.some((mirror) => mirror.lag().pending > 0);
    second++
  ) {
    clock.advance(1000);
    await turns();
  }
  expect(mirrors.map((mirror) => mirror.lag().pending)).toEqual(mirrors.map(() => 0));
}

/** Expects each screen's copy to match the store. */
export async function expectEqual(
  store: Store,
  objects: MemoryObjectStore,
  clock: ManualClock,
  screens: readonly Screen[],
): Promise<void> {
  const copies = makePlaylistCopies(objects, clock);
  for (const screen of screens) {
    const row = await readWithItems(store.read, screen.id);
    const stored = await copies.read(screen);
    expect(isUpToDate(stored, row), `${JSON.stringify(stored)} for ${JSON.stringify(row)}`).toBe(
      true,
    );
  }
}
