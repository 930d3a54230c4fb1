// Overload refuses new holds, and leaves the others alone (docs/protocol.md §2.9).
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { serveOn } from '../../../src/serve.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Reader } from '../../../src/store/store.ts';
import { item } from '../../support/service/content.ts';
import { expectProblem } from '../../support/service/problem.ts';
import { startService } from '../../support/service/service.ts';
import { heldDevices } from '../../support/tv/held-devices.ts';

/** More than the number of requests in progress below which nothing is rejected. */
const slowReads = 300;

it('503 for a new hold while the service is overloaded; a TV that is held stays held', async () => {
  let isSlow = false;
  const release: (() => void)[] = [];
  const open: typeof openStore = async (...options) => {
    const inner = await openStore(...options);
    const get = (async (...args: Parameters<Reader['get']>) => {
      if (isSlow && args[0] === 'playlists')
        await new Promise<void>((resolve) => release.push(resolve));
      return inner.read.get(...args);
    }) as Reader['get'];
    return decorateStore(inner, { read: decorateStore(inner.read, { get }) });
  };
  const service = await startService({}, (options = {}) => serveOn(open, options));
  const [held, refused] = [await service.tv(), await service.tv()];
  const { cursor } = (await held.send('GET', 'changes')).body;
  await refused.send('GET', 'changes');
  const query = `changes?after=${cursor}&waitSeconds=50`;
  const answer = held.send('GET', query);
  await expect.poll(() => heldDevices(service)).toBe(1);

  isSlow = true;
  const reads = Array.from({ length: slowReads }, () => refused.send('GET', 'playlist'));
  await expect.poll(() => release.length, { timeout: 10_000 }).toBe(slowReads);
  let status = 200;
  for (let tenth = 0; tenth < 30 && status !== 503; tenth++) {
    service.clock.advance(100);
    status = await Promise.race([
      refused.send('GET', 'playlist').then((read) => read.status),
      sleep(50).then(() => 200),
    ]);
  }
  const refusal = await refused.send('GET', query);
  expectProblem(refusal, 503, 'unavailable');
  expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await heldDevices(service)).toBe(1);

  isSlow = false;
  for (const go of release) go();
  await Promise.all(reads);
  await service.manage('PUT', `/v1/screens/${held.screenId}/playlist`, { items: [item()] });
  expect((await answer).body.playlist.version).toBe(1);
}, 30_000);
