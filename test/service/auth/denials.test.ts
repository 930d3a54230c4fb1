import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeIdSource } from '../../../src/domain/id.ts';
import { type DeniedCaller, makeDenials } from '../../../src/service/auth/denials.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';

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

const by = (id: string): DeniedCaller => ({
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

it('holds a bounded number of pairs, however many tokens are refused, and loses no count', async () => {
  for (let n = 0; n < 3000; n++) denials.record(by(`token ${n}`), 'createVenue');
  await denials.stop();
  const found = await counts();
  expect(found.length).toBeLessThanOrEqual(1002);
  expect(found.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(3000);
});

it('keeps the count when it cannot be written, for the next entry', async () => {
  failure = new Error('the disk is full');
  for (let n = 0; n < 3; n++) denials.record(by('one'), 'createVenue');
  clock.advance(60_000);
  await new Promise((resolve) => setImmediate(resolve));
  failure = undefined;
  clock.advance(60_000);
  await expect.poll(counts).toEqual([['one', 3]]);
  await denials.stop();
  expect(await counts()).toEqual([['one', 3]]);
});
