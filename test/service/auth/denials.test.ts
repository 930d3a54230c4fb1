import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeIdSource } from '../../../src/domain/id.ts';
import { type DeniedPrincipal, makeDenials } from '../../../src/service/auth/denials.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

let clock: ManualClock;
let store: Store;
let failure: Error | undefined;
let denials: ReturnType<typeof makeDenials>;
beforeEach(async () => {
  clock = new ManualClock();
  failure = undefined;
  store = await openStore('memory:', { clock: new ManualClock() });
  const write: Store['write'] = async (change) => {
    if (failure) throw failure;
    return store.write(change);
  };
  denials = makeDenials({
    store: { ...store, write } as Store,
    clock,
    random: (length) => new Uint8Array(length),
    newId: makeIdSource(clock),
  });
});
afterEach(() => store.close());

const principal = (id: string): DeniedPrincipal => ({
  actor: { kind: 'token', id, name: id },
  role: 'viewer',
  tenantId: 'tenant',
  venueIds: null,
  address: null,
  requestId: null,
});
const counts = async () =>
  (await store.audit({ tenantIds: ['tenant'], limit: 5000 })).items.map(({ subject, details }) => [
    subject.id,
    details.count,
  ]);

it('limits the number of token-operation pairs, and loses no count', async () => {
  for (let n = 0; n < 3000; n++) denials.record(principal(`token ${n}`), 'createVenue');
  await denials.stop();
  const found = await counts();
  expect(found.length).toBeLessThanOrEqual(1002);
  expect(found.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(3000);
});

it('adds the count of a failed write to the next entry', async () => {
  failure = new Error('the disk is full');
  for (let n = 0; n < 3; n++) denials.record(principal('one'), 'createVenue');
  clock.advance(60_000);
  await new Promise((resolve) => setImmediate(resolve));
  failure = undefined;
  clock.advance(60_000);
  await expect.poll(counts).toEqual([['one', 3]]);
  await denials.stop();
  expect(await counts()).toEqual([['one', 3]]);
});
