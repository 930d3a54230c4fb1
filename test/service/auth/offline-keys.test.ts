import { describe, expect, it } from 'vitest';
import { SignageError } from '../../../src/domain/error.ts';
import { makeOfflineKeys } from '../../../src/service/auth/offline-keys.ts';
import type { KeyHolder, Store, Tx } from '../../../src/store/store.ts';
import { deviceKeyRow, deviceRow, screenRow } from '../../store/sample-rows.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const away = () => Promise.reject(new SignageError('unavailable', 'planted: the store is away'));

function bearerOf(number: number): KeyHolder {
  const device = deviceRow(number);
  return {
    key: deviceKeyRow(number, { deviceId: device.id }),
    device,
    screen: screenRow(number, { deviceId: device.id }),
  };
}

/** A grace of ten seconds over a store whose answers are planted. */
function rig() {
  const clock = new ManualClock();
  const planted = {
    findByKeyHash: away as (hash: string) => Promise<KeyHolder | undefined>,
    outcome: () => Promise.resolve(),
  };
  const tx = { put: async () => {}, delete: async () => {} } as unknown as Tx;
  const store = {
    read: { findByKeyHash: (hash: string) => planted.findByKeyHash(hash) },
    async write<T>(change: (one: Tx) => Promise<T>): Promise<T> {
      const result = await change(tx);
      await planted.outcome();
      return result;
    },
  } as unknown as Store;
  const grace = makeOfflineKeys(store, clock, 10_000);
  const verify = async (number: number) => {
    planted.findByKeyHash = async () => bearerOf(number);
    await grace.findByKeyHash(`hash ${number}`);
    planted.findByKeyHash = away;
  };
  const revoke = (number: number) => {
    const { key } = bearerOf(number);
    return grace.store.write((one) => one.put('deviceKeys', { ...key, state: 'revoked' }));
  };
  return {
    clock,
    planted,
    grace,
    verify,
    revoke,
    recall: (number: number) => grace.findByKeyHash(`hash ${number}`),
  };
}

const unavailable = { code: 'unavailable' };

describe('the grace of device keys', () => {
  it('answers what the store last said, for so long, and nothing for a key that it was not asked about', async () => {
    const { clock, verify, recall } = rig();
    await verify(1);
    clock.advance(10_000);
    expect(await recall(1)).toEqual(bearerOf(1));
    await expect(recall(2)).rejects.toMatchObject(unavailable);
    clock.advance(1);
    await expect(recall(1)).rejects.toMatchObject(unavailable);
  });

  it('gets no longer when the clock is set back', async () => {
    const { clock, verify, recall } = rig();
    await verify(1);
    const verifiedAt = clock.now();
    clock.set(verifiedAt - 10_000);
    expect(await recall(1)).toEqual(bearerOf(1));
    clock.set(verifiedAt - 10_001);
    await expect(recall(1)).rejects.toMatchObject(unavailable);
  });

  it('throws what is no outage as it is', async () => {
    const { planted, verify, recall } = rig();
    await verify(1);
    planted.findByKeyHash = () => Promise.reject(new Error('planted: a mistake'));
    await expect(recall(1)).rejects.toThrow('a mistake');
  });

  it.each<[string, (bearer: KeyHolder) => KeyHolder | undefined]>([
    ['unknown', () => undefined],
    ['revoked', (bearer) => ({ ...bearer, key: { ...bearer.key, state: 'revoked' } })],
    ['without its device', (bearer) => ({ ...bearer, device: undefined })],
    ['without its screen', (bearer) => ({ ...bearer, screen: undefined })],
    [
      'of a screen with another device',
      (bearer) => ({ ...bearer, screen: { ...bearer.screen!, deviceId: 'another' } }),
    ],
  ])('forgets a key that is %s', async (_, change) => {
    const { planted, verify, recall } = rig();
    await verify(1);
    planted.findByKeyHash = async () => change(bearerOf(1));
    expect(await recall(1)).toEqual(change(bearerOf(1)));
    planted.findByKeyHash = away;
    await expect(recall(1)).rejects.toMatchObject(unavailable);
  });

  it('forgets a device that this instance revokes or deletes, and no other', async () => {
    const { grace, verify, revoke, recall } = rig();
    for (const number of [1, 2, 3]) await verify(number);
    await revoke(1);
    await grace.store.write((tx) => tx.delete('devices', bearerOf(2).device!.id));
    for (const number of [1, 2]) await expect(recall(number)).rejects.toMatchObject(unavailable);
    expect(await recall(3)).toEqual(bearerOf(3));
  });

  it('forgets it also when nobody knows whether the change was made', async () => {
    const { planted, verify, revoke, recall } = rig();
    await verify(1);
    planted.outcome = away;
    await expect(revoke(1)).rejects.toMatchObject(unavailable);
    await expect(recall(1)).rejects.toMatchObject(unavailable);
  });

  it('does not remember an answer from before a revocation that came in between', async () => {
    const { planted, grace, revoke, recall } = rig();
    let answer = (_: KeyHolder) => {};
    planted.findByKeyHash = () => new Promise((resolve) => (answer = resolve));
    const asked = grace.findByKeyHash('hash 1');
    await revoke(1);
    answer(bearerOf(1));
    expect(await asked).toEqual(bearerOf(1));
    planted.findByKeyHash = away;
    await expect(recall(1)).rejects.toMatchObject(unavailable);
  });

  it('remembers the latest 100,000 devices', async () => {
    const { planted, grace, recall } = rig();
    const { key, device, screen } = bearerOf(0) as Required<KeyHolder>;
    const numbered = (id: string) => ({
      key,
      device: { ...device!, id },
      screen: { ...screen!, deviceId: id },
    });
    planted.findByKeyHash = async (hash) => numbered(hash);
    for (let number = 0; number < 100_001; number++) await grace.findByKeyHash(`hash ${number}`);
    planted.findByKeyHash = away;
    await expect(recall(0)).rejects.toMatchObject(unavailable);
    expect(await recall(1)).toEqual(numbered('hash 1'));
  });
});
