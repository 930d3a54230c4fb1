// Runs the service with an origin, a store and an object store of its own. Prints:
//   Menu: 1 items from on-demand
//   Wall: 3 items from store
//   Many changes, 2 copies
import { setTimeout } from 'node:timers/promises';
import { openStore, serve } from 'signage-kit';
import { ManagementClient, RuntimeClient } from 'signage-kit/client';
import { sampleDeviceInfo, samplePlaylist } from 'signage-kit/testing';

/**
 * An origin: screens with the label `role=menu` show the menu of the hour.
 *
 * @type {import('signage-kit').OnDemandPlaylists}
 */
const onDemand = async ({ labels }) => {
  if (labels.role !== 'menu') return null;
  const item = {
    creativeId: 'c0000000-0000-4000-8000-000000000009',
    creativeUrl: 'https://media.example.com/menu.html',
    creativeType: /** @type {const} */ ('html'),
    duration: 60,
  };
  return { items: [item] };
};

/**
 * A store: the one in memory, which also counts the changes.
 *
 * @param {import('signage-kit').Store} inner
 * @param {() => void} count
 */
function countingStore(inner, count) {
  return new Proxy(inner, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (/** @type {unknown[]} */ ...args) => {
        if (name === 'write') count();
        return member.apply(target, args);
      };
    },
  });
}

/**
 * An object store: a map. `put` writes only if nobody else has changed the object.
 *
 * @typedef {import('signage-kit').ObjectStore} ObjectStore
 * @implements {ObjectStore}
 */
class MapObjectStore {
  /** @type {Map<string, { bytes: Uint8Array, etag: string }>} */
  objects = new Map();
  #writes = 0;

  /** @param {string} key */
  async get(key) {
    return this.objects.get(key);
  }

  /**
   * @param {string} key
   * @param {Uint8Array} bytes
   * @param {string | null} expected
   */
  async put(key, bytes, expected) {
    if ((this.objects.get(key)?.etag ?? null) !== expected) return false;
    this.#writes += 1;
    this.objects.set(key, { bytes, etag: String(this.#writes) });
    return true;
  }

  /** @param {string} key */
  async delete(key) {
    this.objects.delete(key);
  }

  /**
   * @param {string} folder
   * @param {string | null} after
   */
  async list(folder, after) {
    const below = [...this.objects.keys()].filter(
      (key) => key.startsWith(`${folder}/`) && !key.slice(folder.length + 1).includes('/'),
    );
    const keys = below.sort().filter((key) => after === null || key > after);
    return { keys, next: null };
  }

  async close() {}
}

let changes = 0;
const inner = await openStore('memory:');
const store = countingStore(inner, () => {
  changes += 1;
});
const objectStore = new MapObjectStore();
const service = await serve({ port: 0, store, objectStore, onDemand });
const management = new ManagementClient({ url: service.url, token: service.adminToken ?? '' });

const venue = await management.call('createVenue', { body: { name: 'Bistro' } });
for (const [name, role] of Object.entries({ Menu: 'menu', Wall: 'ads' })) {
  const body = { venueId: venue.id, name, labels: { role } };
  const screen = await management.call('createScreen', { body });
  const params = { id: screen.id };
  await management.call('publishPlaylist', { params, body: samplePlaylist });
  const { code } = await management.call('createCode', { body: { screenId: screen.id } });
  const anyone = new RuntimeClient({ url: service.url });
  const { apiKey } = await anyone.register({ pairingCode: code, deviceInfo: sampleDeviceInfo });
  const { answer, source } = await anyone.withKey(apiKey).fetchPlaylist(screen.id);
  console.log(`${name}: ${answer?.items.length} items from ${source}`);
}

// Copies are made in the background.
while (objectStore.objects.size < 2) await setTimeout(10);
await service.close();
await inner.close();
console.log(`${changes > 10 ? 'Many' : 'Few'} changes, ${objectStore.objects.size} copies`);
