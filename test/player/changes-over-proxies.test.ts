// Real time, a real service, and the kinds of proxies that stand between TVs and services.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { type Clock, secondMs, systemClock } from '../../src/domain/clock.ts';
import { Player } from '../../src/player/player.ts';
import { item } from '../support/content.ts';
import { startService, type TestService } from '../support/service.ts';
import { type TcpProxy, type TcpProxyRules, tcpProxy } from '../support/tcp-proxy.ts';
import { tvPlace } from '../support/tv-place.ts';

let service: TestService<Clock>;
const players: Player[] = [];
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});
afterAll(() => {
  for (const player of players) player.stop();
});

/** Waits for a condition. `expect.poll` does not work in concurrent tests. */
async function until(condition: () => boolean): Promise<void> {
  const endMs = Date.now() + 20 * secondMs;
  while (!condition()) {
    if (Date.now() > endMs) throw new Error('The condition was not met within 20 seconds.');
    await sleep(10);
  }
}

const url = (name: string) => `https://media.example.com/${name}.mp4`;

/** Starts a TV behind a proxy, and waits until it shows its playlist. */
async function startTv(rules: TcpProxyRules) {
  const place = await tvPlace(service, [item({ creativeUrl: url('first'), duration: 600 })]);
  const proxy = await tcpProxy(service.url, '/changes', rules);
  const player = new Player({
    client: new RuntimeClient({ url: proxy.url }),
    deviceInfo: { model: 'TV' },
    nextCode: async () => place.code,
  });
  players.push(player);
  void player.run();
  const shown = () => player.state.showing?.item.creativeUrl;
  await until(() => shown() === url('first'));
  /** Publishes, and returns the time until the TV shows it, in milliseconds. */
  async function publish(name: string): Promise<number> {
    const items = [item({ creativeUrl: url(name), duration: 600 })];
    await service.manage('PUT', `/v1/screens/${place.screenId}/playlist`, { items });
    const publishedMs = Date.now();
    await until(() => shown() === url(name));
    return Date.now() - publishedMs;
  }
  return { player, proxy, publish };
}

const holds = ({ requests }: TcpProxy) => requests.filter(({ line }) => line.includes('after='));
const cursorOf = (line: string) => /after=([^&\s]+)/.exec(line)?.[1];
const waitOf = (line: string) => Number(/waitSeconds=(\d+)/.exec(line)?.[1]);

/** The shortest time between two requests with the same cursor, in milliseconds. */
function shortestPauseMs({ requests }: TcpProxy): number {
  const pauses = requests.slice(1).flatMap(({ line, atMs }, index) => {
    const before = requests[index];
    return before && cursorOf(before.line) === cursorOf(line) ? [atMs - before.atMs] : [];
  });
  return Math.min(...pauses);
}

describe.concurrent('A change reaches a TV', () => {
  it('within a second without a hindrance', async () => {
    const { proxy, publish } = await startTv({});
    await until(() => holds(proxy).length === 1);
    expect(await publish('second')).toBeLessThan(1000);
  });

  it('within a second behind a proxy that cuts, once the holds are shorter', async () => {
    const { proxy, publish, player } = await startTv({ cutAfterMs: 6 * secondMs });
    await until(() => holds(proxy).length === 2);
    expect(holds(proxy).map(({ line }) => waitOf(line))).toEqual([50, 4]);
    expect(await publish('second')).toBeLessThan(1000);
    expect(player.state.phase).toBe('playing');
    await sleep(6 * secondMs);
    expect(
      holds(proxy)
        .slice(1)
        .map(({ line }) => waitOf(line)),
    ).not.toContain(50);
    expect(shortestPauseMs(proxy)).toBeGreaterThanOrEqual(4900);
  }, 40_000);

  it('late behind a proxy that buffers', async () => {
    const { proxy, publish } = await startTv({ delayMs: 2 * secondMs });
    await until(() => holds(proxy).length === 1);
    const tookMs = await publish('second');
    expect(tookMs).toBeGreaterThanOrEqual(1900);
    expect(tookMs).toBeLessThan(3000);
  }, 20_000);
});

describe.concurrent('A TV does not hammer', () => {
  it('a proxy that cuts at once: at most one request in 5 seconds', async () => {
    const { proxy, player } = await startTv({ cutAfterMs: 0 });
    await sleep(12 * secondMs);
    expect(proxy.requests.length).toBeGreaterThan(1);
    expect(proxy.requests.length).toBeLessThanOrEqual(3);
    expect(shortestPauseMs(proxy)).toBeGreaterThanOrEqual(4900);
    expect(player.state.phase).toBe('playing');
  }, 20_000);

  it('a service that does not know the endpoint: one request', async () => {
    const answer = 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n';
    const { proxy, player } = await startTv({ answer });
    await sleep(12 * secondMs);
    expect(proxy.requests).toHaveLength(1);
    expect(player.state.phase).toBe('playing');
  }, 20_000);
});
