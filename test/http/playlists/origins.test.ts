import { describe, expect, it } from 'vitest';
import { playlistObjectBytes } from '../../../src/origin/object-store/playlist-copies.ts';
import { item } from '../../support/service/content.ts';
import { playlistRow } from '../../support/service/playlist-rows.ts';
import { faultyObjects, type ObjectFault } from '../../support/stores/faulty-objects.ts';
import type { StoreFault } from '../../support/stores/faulty-store.ts';
import { summary, threeOrigins } from '../../support/stores/three-origins.ts';

const states = ['answers', 'none', 'error', 'time-out', 'garbage'] as const;
type State = (typeof states)[number];

const fromSource = [item({ title: 'on demand' })];
const published = [item({ title: 'published' })];
const mirrored = [item({ title: 'mirrored' })];

/**
 * Returns the response that the protocol requires for each combination (docs/protocol.md §2.3).
 */
function expected(onDemand: State, store: State, objectStore: State): string {
  // A new on-demand playlist is stored with a version before it is served. The screen's first
  // playlist has version 1.
  if (onDemand === 'answers' && store === 'answers') return '200 on-demand 4';
  if (onDemand === 'answers' && store === 'none') return '200 on-demand 1';
  if (store === 'answers') return '200 store 3';
  if (objectStore === 'answers') return '200 object-store 7';
  return [onDemand, store, objectStore].every((state) => state === 'none') ? '404' : '500';
}

const onDemandIn: Record<State, () => unknown> = {
  answers: () => ({ items: fromSource }),
  none: () => null,
  error: () => {
    throw new Error('planted');
  },
  'time-out': () => new Promise<never>(() => {}),
  garbage: () => ({ items: [{ creativeId: 'rubbish' }] }),
};
const storeFaults: Record<State, StoreFault> = {
  answers: 'no',
  none: 'no',
  error: 'error',
  'time-out': 'hang',
  garbage: 'garbage',
};
const objectFaults: Record<State, ObjectFault> = {
  answers: 'no',
  none: 'none',
  error: 'error',
  'time-out': 'hang',
  garbage: 'garbage',
};

/** Returns a response of a service with three origins in these states. */
async function answerOf(onDemand: State, storeState: State, objectStore: State) {
  const objects = faultyObjects();
  const fixture = await threeOrigins({ onDemand: onDemandIn[onDemand], objects });
  const tv = await fixture.tv();
  for (let version = 1; version <= 3 && storeState !== 'none'; version++)
    await fixture.publish(tv.screenId, [...published, item()]);
  const screen = (await fixture.inner.read.get('screens', tv.screenId))!;
  const copy = playlistRow(screen, { version: 7, items: JSON.stringify(mirrored) });
  objects.objects.set(`${screen.tenantId}/playlists/${screen.id}.json`, playlistObjectBytes(copy));
  const newestVersion = async () =>
    (await fixture.inner.read.get('playlists', tv.screenId))?.version ?? 0;
  const before = await newestVersion();
  fixture.store.fault = storeFaults[storeState];
  objects.fault = objectFaults[objectStore];
  const answer = await fixture.get(tv);
  const newVersions = (await newestVersion()) - before;
  await fixture.close();
  return { answer, health: fixture.origins.health(), newVersions, objectStoreAsked: objects.gets };
}

describe('GET /devices/:id/playlist from three origins', () => {
  const cases = states.flatMap((onDemand) =>
    states.flatMap((store) => states.map((objectStore) => [onDemand, store, objectStore] as const)),
  );

  it.each(cases)(
    'on demand: %s, store: %s, object store: %s',
    async (onDemand, store, objectStore) => {
      const { answer, health, newVersions, objectStoreAsked } = await answerOf(
        onDemand,
        store,
        objectStore,
      );
      const should = expected(onDemand, store, objectStore);
      expect(summary(answer)).toBe(should);
      const [, source] = should.split(' ');
      if (source === 'on-demand') expect(answer.body.items).toEqual(fromSource);
      if (source === 'store') expect(answer.body.items[0]).toEqual(published[0]);
      if (source === 'object-store') expect(answer.body.items).toEqual(mirrored);
      if (answer.status === 404) expect(answer.body.code).toBe('playlist_not_found');
      if (answer.status === 500) expect(answer.body.code).toBe('playlist_fetch_failed');
      expect(answer.text).not.toMatch(/planted|rubbish/);

      // No origin is asked after one that delivered, and only the served version is recorded.
      expect(objectStoreAsked).toBe(source === 'on-demand' || source === 'store' ? 0 : 1);
      expect(newVersions).toBe(source === 'on-demand' ? 1 : 0);

      // Only the log names the origins that failed.
      const isBad = (state: State) => state !== 'answers' && state !== 'none';
      const failed = {
        'on-demand': isBad(onDemand) || (onDemand === 'answers' && isBad(store)),
        store: isBad(store),
        'object-store': objectStoreAsked > 0 && isBad(objectStore),
      };
      expect(health.filter(({ state }) => state !== 'ok').map(({ name }) => name)).toEqual(
        Object.entries(failed).flatMap(([name, has]) => (has ? [name] : [])),
      );
    },
  );
});
