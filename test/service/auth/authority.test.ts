import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { makeIdSource } from '../../../src/domain/id.ts';
import type { Token } from '../../../src/domain/records/rows.ts';
import { withAuthority } from '../../../src/service/auth/authority.ts';
import { type DevicePrincipal, type Principal, system } from '../../../src/service/context.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store, Tx } from '../../../src/store/store.ts';
import { guid, tenantA } from '../../store/sample-batch.ts';
import { deviceKeyRow, deviceRow, screenRow, tokenRow, venueRow } from '../../store/sample-rows.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

const opened: Store[] = [];
afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())));

async function openDependencies(location: string, clock = new ManualClock()) {
  const store = await openStore(location, { clock });
  opened.push(store);
  return {
    store,
    clock,
    write: withAuthority({
      store,
      clock,
      random: randomBytes,
      newId: makeIdSource(clock, randomBytes),
    }).write,
  };
}

const client = { address: null, requestId: null };
const { id, name, hash } = tokenRow(1);
const principal: Principal = {
  actor: { kind: 'token', id, name },
  tokenHash: hash,
  role: 'operator',
  tenantId: tenantA,
  venueIds: ['a'],
  expiresAt: null,
  ...client,
};
const boundRecords = {
  screen: screenRow(1, { state: 'active', deviceId: guid('devi', 1) }),
  device: deviceRow(1),
  key: deviceKeyRow(1),
};
const tv: DevicePrincipal = { ...boundRecords, ...client };
async function putBoundRecords(tx: Tx): Promise<void> {
  await tx.put('screens', boundRecords.screen);
  await tx.put('devices', boundRecords.device);
  await tx.put('deviceKeys', boundRecords.key);
}
const change = (tx: Tx) => tx.put('venues', venueRow(1));

describe('a change for a principal', () => {
  it.each<[string, Partial<Token>, string | undefined, venueIds?: readonly string[] | null]>([
    ['whose token is unchanged', {}, undefined],
    ['whose token has more rights now', { role: 'admin', venueIds: null }, undefined],
    ['whose token has an additional venue now', { venueIds: ['a', 'b'] }, undefined],
    [
      'whose token expires a moment later',
      { expiresAt: Date.UTC(2026, 10, 20, 12) + 1 },
      undefined,
    ],
    [
      'whose token expires at this moment',
      { expiresAt: Date.UTC(2026, 10, 20, 12) },
      'credential_expired',
    ],
    ['whose token has a lower role now', { role: 'installer' }, 'insufficient_role'],
    ['whose token has other venues now', { venueIds: ['b'] }, 'insufficient_role'],
    ['whose token was replaced', { id: guid('toke', 2) }, 'credential_invalid'],
    ['whose token was for all venues, and is for some now', {}, 'insufficient_role', null],
  ])('%s', async (_, more, code, venueIds: readonly string[] | null = ['a']) => {
    const { store, write } = await openDependencies('memory:');
    await store.write((tx) =>
      tx.put('tokens', tokenRow(1, { role: 'operator', venueIds: ['a'], ...more })),
    );
    await expect(
      write({ ...principal, venueIds }, change).catch((error) => error.code),
    ).resolves.toBe(code);
    expect(await store.read.get('venues', venueRow(1).id)).toEqual(
      code === undefined ? venueRow(1) : undefined,
    );
  });

  it.each<[string, (tx: Tx) => Promise<void>, string | undefined]>([
    ['as it was', async () => {}, undefined],
    [
      'retiring',
      (tx) => tx.put('deviceKeys', { ...boundRecords.key, state: 'retiring' }),
      undefined,
    ],
    [
      'revoked',
      (tx) => tx.put('deviceKeys', { ...boundRecords.key, state: 'revoked' }),
      'device_key_revoked',
    ],
    ['purged', (tx) => tx.delete('deviceKeys', boundRecords.key.id), 'device_key_invalid'],
    [
      'without a device',
      (tx) => tx.delete('devices', boundRecords.device.id),
      'device_key_orphaned',
    ],
    [
      'of a device that its screen no longer has',
      (tx) => tx.put('screens', { ...boundRecords.screen, deviceId: guid('devi', 2) }),
      'device_key_orphaned',
    ],
  ])('whose device key is %s', async (_, before, code) => {
    const { store, write } = await openDependencies('memory:');
    await store.write(async (tx) => {
      await putBoundRecords(tx);
      await before(tx);
    });
    await expect(write(tv, change).catch((error) => error.code)).resolves.toBe(code);
    expect(await store.read.get('venues', venueRow(1).id)).toEqual(
      code === undefined ? venueRow(1) : undefined,
    );
  });

  it('needs no credential when the principal is the service itself', async () => {
    const { store, write } = await openDependencies('memory:');
    await write({ ...principal, actor: system }, change);
    expect(await store.read.get('venues', venueRow(1).id)).toEqual(venueRow(1));
  });

  it.each<[string, Principal | DevicePrincipal, (tx: Tx) => Promise<void>, string]>([
    [
      'revokes its key',
      tv,
      (tx) => tx.put('deviceKeys', { ...boundRecords.key, state: 'revoked' }),
      'device_key_revoked',
    ],
    ['deletes its token', principal, (tx) => tx.delete('tokens', id), 'credential_invalid'],
  ])(
    'runs again and is rejected when another instance %s after the check',
    async (_, by, their, code) => {
      const database = await freshDatabase();
      const one = await openDependencies(database);
      const other = await openDependencies(database);
      await one.store.write(async (tx) => {
        await putBoundRecords(tx);
        await tx.put('tokens', tokenRow(1, { role: 'operator', venueIds: ['a'] }));
      });
      let runs = 0;
      const late = one.write(by, async (tx) => {
        runs++;
        await other.store.write(their);
        await change(tx);
      });
      await expect(late).rejects.toMatchObject({ code });
      // The second run fails at the check.
      expect(runs).toBe(1);
      expect(await one.store.read.get('venues', venueRow(1).id)).toBeUndefined();
    },
  );
});
