// Under overload the goodput stays, rejected clients are told when to retry, and a flood without
// credentials does not delay TVs (docs/protocol.md §1.8). Measured by counts, not by time.
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { hashKey, makeKey } from '../../../src/domain/api-key.ts';
import { serveOn } from '../../../src/serve.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { startService } from '../../support/service/service.ts';
import { modelOverload, varied } from './overload.ts';

it('keeps its goodput at five and ten times its capacity, and spreads the retries of rejected clients', async () => {
  expect(await modelOverload({ random: varied() })).toEqual([]);
});

/** Starts a service on a store with some members replaced. */
function serviceWith(members: (inner: Store) => Partial<Store>) {
  const open: typeof openStore = async (...options) => {
    const inner = await openStore(...options);
    return decorateStore(inner, members(inner));
  };
  return startService({}, (options = {}) => serveOn(open, options));
}

it('a flood of unknown keys on a slow store rejects no known TV and no registration', async () => {
  const release: (() => void)[] = [];
  let knownHash: string | undefined;
  const service = await serviceWith((inner) => ({
    read: decorateStore(inner.read, {
      findByKeyHash(hash) {
        const found = inner.read.findByKeyHash(hash);
        if (knownHash === undefined || hash === knownHash) return found;
        return new Promise((resolve) => release.push(() => resolve(found)));
      },
    }),
  }));
  const tv = await service.tv();
  const other = await service.code();
  expect((await tv.send('GET', 'config')).status).toBe(200);
  knownHash = hashKey(tv.apiKey);
  const flood: Promise<{ status: number }>[] = [];
  let refused = 0;
  const send = async () => {
    const answer = await service.send('GET', `/devices/${tv.screenId}/playlist`, {
      key: makeKey('dak_', randomBytes),
    });
    if (answer.status === 503) refused++;
    return answer;
  };
  // Nothing gets through, so unauthenticated requests overload their queue after about a second.
  for (let n = 0; refused === 0 && n < 40; n++) {
    for (let each = 0; each < 20; each++) flood.push(send());
    await expect.poll(() => release.length + refused).toBe(flood.length);
    service.clock.advance(100);
  }
  expect(refused).toBeGreaterThan(0);
  expect((await service.send('GET', '/v1/me', { key: makeKey('mak_', randomBytes) })).status).toBe(
    503,
  );
  expect((await tv.send('GET', 'config')).status).toBe(200);
  expect(
    (await tv.send('POST', 'events', { body: [{ type: 'heartbeat', timestamp: 1 }] })).status,
  ).toBe(202);
  expect((await service.manage('GET', '/v1/venues')).status).toBe(200);
  expect((await service.register(other.code)).status).toBe(201);
  for (const go of release) go();
  const statuses = new Set((await Promise.all(flood)).map(({ status }) => status));
  expect([...statuses].sort()).toEqual([401, 503]);
  await service.close();
});
