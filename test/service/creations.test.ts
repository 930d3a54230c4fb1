import { expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { makeIdSource } from '../../src/domain/id.ts';
import type { ServiceDependencies } from '../../src/service/context.ts';
import { prepareCreation } from '../../src/service/creations.ts';
import { openStore } from '../../src/store/location/open.ts';
import { creationRow } from '../store/sample-rows.ts';

it('the last 10,000 creations of a token are kept, and those of other tokens', async () => {
  const store = await openStore('memory:');
  const other = creationRow(20_000, { tokenId: 'other' });
  await store.write(async (tx) => {
    await tx.put('creations', other);
    for (let number = 1; number <= 10_100; number++)
      await tx.put('creations', creationRow(number, { tokenId: 'one', createdAt: tx.now }));
  });
  const deps: ServiceDependencies = {
    store,
    write: (_, change) => store.write(change),
    clock: systemClock,
    random: (length) => new Uint8Array(length),
    newId: makeIdSource(systemClock),
  };
  const actor = { kind: 'token', id: 'one', name: 'One' } as const;
  const request = { operation: 'createVenue', key: 'k'.repeat(16), body: Buffer.from('{}') };
  const begin = await prepareCreation(deps, { actor, tenantId: 't' }, request);
  await store.write(async (tx) => (await begin(tx)).remember('venue'));

  expect(await store.read.count('creations', 'tokenId', 'one')).toBe(10_001);
  expect(await store.read.get('creations', creationRow(100).id)).toBeUndefined();
  expect(await store.read.get('creations', creationRow(101).id)).toBeDefined();
  expect(await store.read.get('creations', other.id)).toEqual(other);
  await store.close();
});
