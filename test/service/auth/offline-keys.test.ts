import { describe, expect, it } from 'vitest';
import { SignageError } from '../../../src/domain/error.ts';
import { makeOfflineKeys } from '../../../src/service/auth/offline-keys.ts';
import { observedStore } from '../../../src/service/observed-store.ts';
import type { KeyHolder, Store, Tx } from '../../../src/store/store.ts';
import { deviceKeyRow, deviceRow, screenRow } from '../../store/sample-rows.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

const storeDown = () => Promise.reject(new SignageError('unavailable', 'the store is down'));

function holderOf(number: number): KeyHolder {
  const device = deviceRow(number);
  return {
    key: deviceKeyRow(number, { deviceId: device.id }),
    device,
    screen: screenRow(number, { deviceId: device.id }),
  };
}

/** Offline keys valid for ten seconds, over a store with answers set by the test. */
function setUp() {
  const clock = new ManualClock();
  const storeBehaviour = {
    findByKeyHash: storeDown as (hash: string) => Promise<KeyHolder | undefined>,
    outcome: () => Promise.resolve(),
  };
  const tx = { put: async () => {}, delete: async () => {} } as unknown as Tx;
  const store = {
    read: { findByKeyHash: (hash: string) => storeBehaviour.findByKeyHash(hash) },
    async write<T>(change: (one: Tx) => Promise<T>): Promise<T> {
      const result = await change(tx);
      await storeBehaviour.outcome();
      return result;
    },
  } as unknown as Store;
  const observed = observedStore(store);
  const offlineKeys = makeOfflineKeys(store, observed.onChange, { clock, maxAgeMs: 10_000 });
  const verify = async (number: number) => {
    storeBehaviour.findByKeyHash = async () => holderOf(number);
    await offlineKeys.findByKeyHash(`hash ${number}`);
    storeBehaviour.findByKeyHash = storeDown;
  };
  const revoke = (number: number) => {
    const { key } = holderOf(number);
    return observed.store.write((one) => one.put('deviceKeys', { ...key, state: 'revoked' }));
  };
  return {
    clock,
    storeBehaviour,
    offlineKeys,
    store: observed.store,
    verify,
    revoke,
    recall: (number: number) => offlineKeys.findByKeyHash(`hash ${number}`),
  };
}

const unavailable = { code: 'unavailable' };

describe('offline device keys', () => {
  it('return the last answer of the store within the time limit, and nothing for unknown keys', async () => {
    const { clock, verify, recall } = setUp();
    await verify(1);
    clock.advance(10_000);
    expect(await recall(1)).toEqual(holderOf(1));
    await expect(recall(2)).rejects.toMatchObject(unavailable);
    clock.advance(1);
    await expect(recall(1)).rejects.toMatchObject(unavailable);
  });

  it('are not valid for longer when the clock is set back', async () => {
    const { clock, verify, recall } = setUp();
    await verify(1);
    const verifiedAt = clock.now();
    clock.set(verifiedAt - 10_000);
    expect(await recall(1)).toEqual(holderOf(1));
    clock.set(verifiedAt - 10_001);
    await expect(recall(1)).rejects.toMatchObject(unavailable);
  });

  it('rethrow errors other than unavailable', async () => {
    const { storeBehaviour, verify, recall } = setUp();
    await verify(1);
    storeBehaviour.findByKeyHash = () => Promise.reject(new Error('injected mistake'));
    await expect(recall(1)).rejects.toThrow('injected mistake');
  });

  it.each<[string, (bearer: KeyHolder) => KeyHolder | undefined]>([
    ['unknown', () => undefined],
    ['revoked', (bearer) => ({ ...bearer, key: { ...bearer.key, state: 'revoked' } })],
    ['without its device', (bearer) => ({ ...bearer, device: undefined })],
    ['without both', (bearer) => ({ ...bearer, device: undefined, screen: undefined })],
    ['without its screen', (bearer) => ({ ...bearer, screen: undefined })],
    [
      'of a screen that has another device',
      (bearer) => ({ ...bearer, screen: { ...bearer.screen!, deviceId: 'another' } }),
    ],
  ])('forget a key that is %s', async (_, change) => {
    const { storeBehaviour, verify, recall } = setUp();
    await verify(1);
    storeBehaviour.findByKeyHash = async () => change(holderOf(1));
    expect(await recall(1)).toEqual(change(holderOf(1)));
    storeBehaviour.findByKeyHash = storeDown;
    await expect(recall(1)).rejects.toMatchObject(unavailable);
  });

  it('forget a device that this instance revokes or deletes, and no other', async () => {
    const { store, verify, revoke, recall } = setUp();
    for (const number of [1, 2, 3]) await verify(number);
    await revoke(1);
    await store.write((tx) => tx.delete('devices', holderOf(2).device!.id));
    for (const number of [1, 2]) await expect(recall(number)).rejects.toMatchObject(unavailable);
    expect(await recall(3)).toEqual(holderOf(3));
  });

  it('forget a device when it is unknown whether the change was committed', async () => {
    const { storeBehaviour, verify, revoke, recall } = setUp();
    await verify(1);
    storeBehaviour.outcome = storeDown;
    await expect(revoke(1)).rejects.toMatchObject(unavailable);
    await expect(recall(1)).rejects.toMatchObject(unavailable);
  });

  it('ignore an answer read before a concurrent revocation', async () => {
    const { storeBehaviour, offlineKeys, revoke, recall } = setUp();
    let answer = (_: KeyHolder) => {};
    storeBehaviour.findByKeyHash = () => new Promise((resolve) => (answer = resolve));
    const asked = offlineKeys.findByKeyHash('hash 1');
    await revoke(1);
    answer(holderOf(1));
    expect(await asked).toEqual(holderOf(1));
    storeBehaviour.findByKeyHash = storeDown;
    await expect(recall(1)).rejects.toMatchObject(unavailable);
  });

  it('keep the latest 100,000 devices', async () => {
    const { storeBehaviour, offlineKeys, recall } = setUp();
    const { key, device, screen } = holderOf(0) as Required<KeyHolder>;
    const numbered = (id: string) => ({
      key,
      device: { ...device!, id },
      screen: { ...screen!, deviceId: id },
    });
    storeBehaviour.findByKeyHash = async (hash) => numbered(hash);
    for (let number = 0; number < 100_001; number++)
      await offlineKeys.findByKeyHash(`hash ${number}`);
    storeBehaviour.findByKeyHash = storeDown;
    await expect(recall(0)).rejects.toMatchObject(unavailable);
    expect(await recall(1)).toEqual(numbered('hash 1'));
  });
});
