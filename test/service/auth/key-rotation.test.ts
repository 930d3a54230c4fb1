import { describe, expect, it } from 'vitest';
import { SignageError } from '../../../src/domain/error.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { mounted } from '../../support/service/mounted.ts';
import { expectProblem } from '../../support/service/problem.ts';

type Service = Awaited<ReturnType<typeof mounted>>;

/** A store that counts changes, and rejects them while `failing`. */
function observedStore(store: Store) {
  const observed = { writes: 0, failing: false };
  const write: Store['write'] = async (change) => {
    observed.writes++;
    if (observed.failing)
      throw new SignageError('unavailable', 'planted', { retryAfterSeconds: 1 });
    return store.write(change);
  };
  return { store: decorateStore(store, { write }), observed };
}

/** Two instances of the service, and a TV with a pending new key. */
async function setUp() {
  const clock = new ManualClock();
  const { store, observed } = observedStore(await openStore('memory:', { clock }));
  const one = await mounted({ store, clock });
  const other = await mounted({ store, clock });
  const tv = await one.tv();
  const path = `/devices/${tv.screenId}`;
  const rotate = async (service: Service, key: string, secret: string) =>
    service.send('POST', `${path}/keys/rotate`, { key, headers: { 'Idempotency-Key': secret } });
  const call = (service: Service, key: string) => service.send('GET', `${path}/config`, { key });
  const newKey = (await rotate(one, tv.apiKey, 'the-first-secret')).body.apiKey as string;
  const keys = () => store.read.select('deviceKeys', 'deviceId', [tv.deviceId]);
  const audited = async (action: string) =>
    (await store.audit({ tenantIds: [(await keys())[0]!.tenantId], action, limit: 200 })).items;
  return {
    store,
    observed,
    clock,
    one,
    other,
    old: tv.apiKey,
    newKey,
    rotate,
    call,
    keys,
    audited,
  };
}

describe('the first use of a new key', () => {
  it('is recorded once in the store for concurrent requests on two instances', async () => {
    const { one, other, old, newKey, call, keys, audited } = await setUp();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => call(n % 2 === 0 ? one : other, newKey)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await audited('key.activate')).toHaveLength(1);
    expect((await keys()).map(({ state }) => state)).toEqual(['revoked', 'active']);
    for (const service of [one, other])
      expectProblem(await call(service, old), 401, 'device_key_revoked');
  });

  it('is an audit entry with the device as actor, and contains no key', async () => {
    const { one, old, newKey, call, audited } = await setUp();
    await call(one, newKey);
    const entries = [...(await audited('key.rotate')), ...(await audited('key.activate'))];
    for (const { actor, subject } of entries)
      expect([actor.kind, subject]).toEqual(['device', { kind: 'device', id: actor.id }]);
    const text = JSON.stringify(entries);
    for (const secret of [old, newKey, 'the-first-secret'])
      expect(text).not.toContain(secret.slice(4));
  });

  it('writes to the store once: all later requests only read', async () => {
    const { observed, one, other, newKey, call } = await setUp();
    observed.writes = 0;
    await call(one, newKey);
    expect(observed.writes).toBe(1);
    for (const service of [one, other, one]) await call(service, newKey);
    expect(observed.writes).toBe(1);
  });

  it.each([true, false])(
    'racing with another rotation: one comes first, and the other key is revoked (%s)',
    async (rotatesFirst) => {
      const { one, other, old, newKey, rotate, call, keys } = await setUp();
      const work = [() => rotate(one, old, 'another-secret-1'), () => call(other, newKey)];
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

  it('401 when another new key replaced it after the look-up', async () => {
    const { store, one, old, newKey, call, rotate, keys } = await setUp();
    const [, stale] = await keys();
    await rotate(one, old, 'another-secret-1');
    const findByKeyHash: Store['read']['findByKeyHash'] = async (hash) => ({
      ...(await store.read.findByKeyHash(hash))!,
      key: stale!,
    });
    const behind = await mounted({
      store: decorateStore(store, { read: decorateStore(store.read, { findByKeyHash }) }),
    });
    expectProblem(await call(behind, newKey), 401, 'device_key_revoked');
    expectProblem(await rotate(behind, newKey, 'another-secret-2'), 401, 'device_key_revoked');
    expect((await keys()).map(({ state }) => state)).toEqual(['retiring', 'revoked', 'active']);
  });

  it('200 while the store rejects changes; the next use revokes the old key', async () => {
    const { observed, one, old, newKey, call, keys } = await setUp();
    observed.failing = true;
    for (const key of [newKey, old, newKey]) expect((await call(one, key)).status).toBe(200);
    expect((await keys()).map(({ state }) => state)).toEqual(['retiring', 'active']);
    observed.failing = false;
    expect((await call(one, newKey)).status).toBe(200);
    expectProblem(await call(one, old), 401, 'device_key_revoked');
  });
});

describe('a rotation', () => {
  it('503 unavailable when the store rejects the change, and the keys are unchanged', async () => {
    const { observed, one, old, newKey, rotate, call, keys } = await setUp();
    const before = await keys();
    observed.failing = true;
    expectProblem(await rotate(one, old, 'another-secret-1'), 503, 'unavailable');
    observed.failing = false;
    expect(await keys()).toEqual(before);
    expect((await call(one, old)).status).toBe(200);
    expect((await call(one, newKey)).status).toBe(200);
  });

  it('stores only hashes, and of revoked keys only the last 4', async () => {
    const { one, old, newKey, rotate, keys } = await setUp();
    const issued = [old, newKey];
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
});
