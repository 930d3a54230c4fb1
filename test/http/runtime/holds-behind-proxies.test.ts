import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import {
  get,
  haproxyPath,
  nginxPath,
  type ProxyOptions,
  type StartProxy,
  startHaproxy,
  startNginx,
  startStandIn,
} from '../../support/network/proxies.ts';
import { item } from '../../support/service/content.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';
import { heldDevices } from '../../support/tv/held-devices.ts';

interface Kind {
  name: string;
  start: StartProxy;
  /** Whether the program is installed. */
  isInstalled: boolean;
}

const kinds: Kind[] = [
  { name: 'a stand-in', start: startStandIn, isInstalled: true },
  { name: 'nginx with its defaults', start: startNginx, isInstalled: nginxPath !== undefined },
  { name: 'HAProxy', start: startHaproxy, isInstalled: haproxyPath !== undefined },
];

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService({ clock: systemClock });
});

const left = /^signage_http_requests_total\{operation="getDeviceChanges",status="499"\} (\d+)$/m;
async function leftCount(): Promise<number> {
  const { text } = await service.send('GET', '/metrics');
  return Number(left.exec(text)?.[1] ?? 0);
}
const heldCount = () => heldDevices(service);

/** Starts a hold through a proxy, and resolves when the service holds it. */
async function hold(url: string, tv: BoundTv, waitSeconds: number, signal?: AbortSignal) {
  const { body } = await tv.send('GET', 'changes');
  const before = await heldCount();
  const query = `after=${body.cursor}&waitSeconds=${waitSeconds}`;
  const answer = get(`${url}/devices/${tv.screenId}/changes?${query}`, tv.apiKey, signal);
  answer.catch(() => {});
  await expect.poll(heldCount, { interval: 5 }).toBe(before + 1);
  return { answer, cursor: body.cursor as string };
}

describe.each(kinds)('a held request behind $name', ({ name, start, isInstalled }) => {
  const through = (options?: ProxyOptions) => start(service.url, options);
  if (!isInstalled) {
    it.skip(`is not tested: ${name} is not installed`, () => {});
    return;
  }

  it('is answered at once when the playlist changes', async () => {
    const tv = await service.tv();
    const { answer } = await hold(await through(), tv, 50);
    const startMs = performance.now();
    await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
    const { status, body } = await answer;
    expect(status).toBe(200);
    expect(JSON.parse(body).playlist.version).toBe(1);
    expect(performance.now() - startMs).toBeLessThan(5000);
  });

  it('is answered when its time is over', async () => {
    const tv = await service.tv();
    const { answer, cursor } = await hold(await through(), tv, 1);
    const { status, body } = await answer;
    expect(status).toBe(200);
    expect(JSON.parse(body).cursor).toBe(cursor);
  });

  it('ends, and counts as 499, when the TV disconnects', async () => {
    const tv = await service.tv();
    const abort = new AbortController();
    const before = await leftCount();
    await hold(await through(), tv, 50, abort.signal);
    abort.abort();
    await expect.poll(heldCount).toBe(0);
    expect(await leftCount()).toBe(before + 1);
  });

  it('ends, and counts as 499, when the proxy waits no longer', async () => {
    const tv = await service.tv();
    const before = await leftCount();
    const { answer } = await hold(await through({ timeoutSeconds: 1 }), tv, 50);
    expect((await answer).status).toBe(504);
    await expect.poll(heldCount).toBe(0);
    expect(await leftCount()).toBe(before + 1);
  });

  it('ends with its time when the proxy does not tell that the TV disconnected', async () => {
    const tv = await service.tv();
    const abort = new AbortController();
    await hold(await through({ ignoresClientAbort: true }), tv, 2, abort.signal);
    abort.abort();
    await sleep(300);
    expect(await heldCount()).toBe(1);
    await expect.poll(heldCount).toBe(0);
  });
});
