import { describe, expect, it } from 'vitest';
import { SignageError } from '../../../src/domain/error.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { mounted } from '../../support/mounted.ts';
import { overriding } from '../../support/planted-store.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { expectProblem } from '../../support/problem.ts';

type Service = Awaited<ReturnType<typeof mounted>>;

/** A store whose changes are counted, and refused while `failing`. */
function watched(store: Store) {
  const seen = { writes: 0, failing: false };
  const write: Store['write'] = async (change) => {
    seen.writes++;
    if (seen.failing) throw new SignageError('unavailable', 'planted', { retryAfterSeconds: 1 });
    return store.write(change);
  };
  return { store: overriding(store, { write }), seen };
}

/** Two instances of the service, and a TV that has a new key which waits. */
async function waiting(stores?: readonly [Store, Store]) {
  const clock = new ManualClock();
  const { store, seen } = watched(stores?.[0] ?? (await openStore('memory:', { clock })));
  const [one, other] = [
    await mounted({ store, clock }),
    await mounted({ store: stores?.[1] ?? store, clock }),
  ];
  const tv = await one.tv();
  const path = `/devices/${tv.screenId}`;
  const rotate = async (service: Service, key: string, secret: string) =>
    service.send('POST', `${path}/keys/rotate`, { key, headers: { 'Idempotency-Key': secret } });
  const call = (service: Service, key: string) => service.send('GET', `${path}/config`, { key });
  const fresh = (await rotate(one, tv.apiKey, 'the-first-secret')).body.apiKey as string;
  const keys = () => store.read.select('deviceKeys', 'deviceId', [tv.deviceId]);
  const audited = async (action: string) =>
    (await store.audit({ tenantIds: [(await keys())[0]!.tenantId], action, limit: 200 })).items;
  return { store, seen, clock, one, other, old: tv.apiKey, fresh, rotate, call, keys, audited };
}

const memory = async () => undefined;
async function onDatabase() {
  const url = await freshDatabase();
  return [await openStore(url), await openStore(url)] as const;
}

describe('the first use of a new key', () => {
  it.each([
    ['one store', memory],
    ['two stores on one database', onDatabase],
  ])(
    'is decided once by the store, with many at once on two instances with %s',
    async (_, open) => {
      const stores = await open();
      const { one, other, old, fresh, call, keys, audited } = await waiting(stores);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => call(n % 2 === 0 ? one : other, fresh)),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(await audited('key.activate')).toHaveLength(1);
      expect((await keys()).map(({ state }) => state)).toEqual(['revoked', 'active']);
      for (const service of [one, other])
        expectProblem(await call(service, old), 401, 'device_key_revoked');
      for (const store of stores ?? []) await store.close();
    },
  );

  it('is noted as that of the device, for whoever reads the audit trail, without any key', async () => {
    const { one, old, fresh, call, audited } = await waiting();
    await call(one, fresh);
    const entries = [...(await audited('key.rotate')), ...(await audited('key.activate'))];
    for (const { actor, subject } of entries)
      expect([actor.kind, subject]).toEqual(['device', { kind: 'device', id: actor.id }]);
    const text = JSON.stringify(entries);
    for (const secret of [old, fresh, 'the-first-secret'])
      expect(text).not.toContain(secret.slice(4));
  });

  it('changes the store once: all other requests only look', async () => {
    const { seen, one, other, fresh, call } = await waiting();
    seen.writes = 0;
    await call(one, fresh);
    expect(seen.writes).toBe(1);
    for (const service of [one, other, one]) await call(service, fresh);
    expect(seen.writes).toBe(1);
  });

  it.each([true, false])(
    'and another rotation at the same moment: one of both is first, the other is dead (%s)',
    async (rotatesFirst) => {
      const { one, other, old, fresh, rotate, call, keys } = await waiting();
      const work = [() => rotate(one, old, 'another-secret-1'), () => call(other, fresh)];
      const [first, second] = await Promise.all(
        (rotatesFirst ? work : work.toReversed()).map((begin) => begin()),
      );
      const [rotated, used] = rotatesFirst ? [first!, second!] : [second!, first!];
      const states = (await keys()).map(({ state }) => state);
      if (rotated.status === 201) {
        expectProblem(used, 401, 'device_key_revoked');
        expect(states).toEqual(['retiring', 'revoked', 'active']);
        expect((await call(one, old)).status).toBe(200);
      } else {
        expectProblem(rotated, 401, 'device_key_revoked');
        expect(used.status).toBe(200);
        expect(states).toEqual(['revoked', 'active']);
      }
    },
  );

  it('401 when another new key took its place after it was looked up', async () => {
    const { store, one, old, fresh, call, rotate, keys } = await waiting();
    const [, stale] = await keys();
    await rotate(one, old, 'another-secret-1');
    const findByKeyHash: Store['read']['findByKeyHash'] = async (hash) => ({
      ...(await store.read.findByKeyHash(hash))!,
      key: stale!,
    });
    const behind = await mounted({
      store: overriding(store, { read: overriding(store.read, { findByKeyHash: findByKeyHash }) }),
    });
    expectProblem(await call(behind, fresh), 401, 'device_key_revoked');
    expectProblem(await rotate(behind, fresh, 'another-secret-2'), 401, 'device_key_revoked');
    expect((await keys()).map(({ state }) => state)).toEqual(['retiring', 'revoked', 'active']);
  });

  it('200 all the same while the store takes no changes; the old key dies with the next use', async () => {
    const { seen, one, old, fresh, call, keys } = await waiting();
    seen.failing = true;
    for (const key of [fresh, old, fresh]) expect((await call(one, key)).status).toBe(200);
    expect((await keys()).map(({ state }) => state)).toEqual(['retiring', 'active']);
    seen.failing = false;
    expect((await call(one, fresh)).status).toBe(200);
    expectProblem(await call(one, old), 401, 'device_key_revoked');
  });
});

describe('a rotation', () => {
  it('503 unavailable when it cannot be stored: the keys are as they were', async () => {
    const { seen, one, old, fresh, rotate, call, keys } = await waiting();
    const before = await keys();
    seen.failing = true;
    expectProblem(await rotate(one, old, 'another-secret-1'), 503, 'unavailable');
    seen.failing = false;
    expect(await keys()).toEqual(before);
    expect((await call(one, old)).status).toBe(200);
    expect((await call(one, fresh)).status).toBe(200);
  });

  it('keeps no key: hashes alone, and of the dead the last 4', async () => {
    const { one, old, fresh, rotate, keys } = await waiting();
    const issued = [old, fresh];
    for (let n = 0; n < 9; n++)
      issued.push((await rotate(one, old, `another-secret-${n}`)).body.apiKey);
    expect((await keys()).map(({ state }) => state).toSorted()).toEqual([
      'active',
      'retiring',
      ...Array(4).fill('revoked'),
    ]);
    const text = JSON.stringify(await keys());
    for (const key of issued) expect(text).not.toContain(key.slice(4));
  });

  it('repeats its answer after a restart of the service, and on the other instance', async () => {
    const { store, clock, other, old, fresh, rotate } = await waiting();
    for (const service of [other, await mounted({ store, clock })]) {
      expect((await rotate(service, old, 'the-first-secret')).body).toEqual({ apiKey: fresh });
    }
  });
});
