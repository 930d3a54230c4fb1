import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { type Running, serve } from '../../src/serve.ts';
import { runFleet } from '../../src/simulator/fleet.ts';
import { pairPlayer } from '../../src/simulator/pairing.ts';
import { playOn } from '../../src/simulator/play-on.ts';
import type { Tally } from '../../src/simulator/tally.ts';
import { hastyClock } from '../support/hasty-clock.ts';

let service: Running;
let token: string;
let management: ManagementClient;

beforeAll(async () => {
  service = await serve({ port: 0, store: 'memory:' });
  token = service.adminToken!;
  management = new ManagementClient({ url: service.url, token });
});
afterAll(() => service.close());

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function venueNamed(name: string): Promise<string> {
  return (await management.call('listVenues', { query: { name } })).items[0]!.id;
}

const perfect = (tvs: number): Tally => ({
  tvs,
  registered: tvs,
  playlistsFetched: tvs,
  playlistsUnchanged: 2 * tvs,
  playlistsMissing: 0,
  configsFetched: tvs,
  eventsSent: 30 * tvs,
  eventsAcknowledged: 30 * tvs,
  eventsFound: 30 * tvs,
  failures: [],
});

describe('runFleet', () => {
  it('pairs TVs that fetch and report, and finds all that was acknowledged', async () => {
    const seen: Tally[] = [];
    const tally = await runFleet({
      url: service.url,
      token,
      venue: 'Fleet',
      count: 5,
      concurrency: 2,
      onProgress: (one) => seen.push(one),
    });
    expect(tally).toEqual(perfect(5));
    expect(seen.at(-1)).toEqual(tally);
    const screens = await collect(management.all('listScreens', { query: { venueId: await venueNamed('Fleet') } }));
    expect(screens.map((one) => [one.name, one.state, one.labels])).toEqual(
      [1, 2, 3, 4, 5].map((n) => [`Simulated ${n}`, 'active', { simulated: 'true' }]),
    );
    expect((await management.call('reportImpressions', { query: { groupBy: 'screen' } })).items.map((one) => one.impressions)).toEqual(
      Array(5).fill(27),
    );
  });

  it('runs again in the same venue: on free screens of its own first, then on new ones', async () => {
    const venueId = await venueNamed('Fleet');
    const [first] = (await management.call('listDevices', { query: { venueId } })).items;
    await management.call('revokeDevice', { params: { id: first!.id }, body: {} });
    expect(await runFleet({ url: service.url, token, venue: 'Fleet', count: 2 })).toEqual({ ...perfect(2), playlistsFetched: 2 });
    const screens = await collect(management.all('listScreens', { query: { venueId } }));
    expect(screens.map((one) => one.name).sort()).toEqual([1, 2, 3, 4, 5, 6].map((n) => `Simulated ${n}`));
    expect(screens.every((one) => one.state === 'active')).toBe(true);
  });

  it('leaves screens alone that are not its own', async () => {
    const { id: venueId } = await management.call('createVenue', { body: { name: 'Real' } });
    await management.call('createScreen', { body: { venueId, name: 'simulated 1' } });
    expect((await runFleet({ url: service.url, token, venue: 'real', count: 1 })).failures).toEqual([]);
    const screens = await collect(management.all('listScreens', { query: { venueId } }));
    expect(screens.map((one) => [one.name, one.state])).toEqual([
      ['simulated 1', 'provisioning'],
      ['Simulated 2', 'active'],
    ]);
  });

  it('throws when it may not even make the screens, and makes nothing', async () => {
    const viewer = await management.call('createToken', { body: { name: 'looks on', role: 'viewer' } });
    const before = (await collect(management.all('listVenues'))).length;
    await expect(runFleet({ url: service.url, token: viewer.token, venue: 'Forbidden', count: 1 })).rejects.toMatchObject({
      code: 'insufficient_role',
    });
    await expect(runFleet({ url: service.url, token: `mak_${'x'.repeat(49)}`, venue: 'Forbidden', count: 1 })).rejects.toMatchObject({
      code: 'credential_invalid',
    });
    await expect(runFleet({ url: 'http://127.0.0.1:1', token, venue: 'Forbidden', count: 1 })).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect((await collect(management.all('listVenues'))).length).toBe(before);
  });

  it('ends early when it is interrupted, with the tally so far', async () => {
    const stop = new AbortController();
    const onProgress = (tally: Tally) => void (tally.registered === 2 && stop.abort());
    const tally = await runFleet({
      url: service.url,
      token,
      venue: 'Cut short',
      count: 50,
      concurrency: 1,
      signal: stop.signal,
      onProgress,
    });
    expect(tally.registered).toBe(2);
    expect(tally.failures).toEqual([{ code: 'interrupted', count: 1, message: expect.any(String) }]);
  });
});

describe('the comparison at the end', () => {
  /** Stands before the service; `meddle` may answer a batch of events in its place. */
  async function proxy(meddle: (response: ServerResponse, forward: () => Promise<Response>) => Promise<boolean>) {
    const server = createServer(async (incoming, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const { method = '', url } = incoming;
      const passed = ['authorization', 'content-type', 'idempotency-key', 'if-none-match'].flatMap((name) => {
        const value = incoming.headers[name];
        return typeof value === 'string' ? [[name, value] as [string, string]] : [];
      });
      const body = method === 'GET' ? null : Buffer.concat(chunks);
      const forward = () => fetch(`${service.url}${url}`, { method, headers: passed, body });
      if (method === 'POST' && url?.endsWith('/events') && (await meddle(response, forward))) return;
      const answer = await forward();
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close().closeAllConnections() };
  }

  it('finds out a service that acknowledges what it does not keep', async () => {
    let batches = 0;
    const liar = await proxy(async (response) => {
      if (++batches !== 2) return false;
      response.writeHead(202, { 'content-type': 'application/json' }).end('{"received":10}');
      return true;
    });
    const tally = await runFleet({ url: liar.url, token, venue: 'Lied to', count: 1 });
    liar.close();
    expect(tally).toMatchObject({ eventsSent: 30, eventsAcknowledged: 30, eventsFound: 20 });
    expect(tally.failures).toEqual([{ code: 'events_lost', count: 1, message: expect.stringContaining('10 events') }]);
  });

  it('sends again what got no answer, and takes it for stored once', async () => {
    let batches = 0;
    const lossy = await proxy(async (response, forward) => {
      if (++batches !== 1) return false;
      await forward();
      response.socket?.destroy();
      return true;
    });
    const tally = await runFleet({ url: lossy.url, token, venue: 'Badly wired', count: 1 });
    lossy.close();
    expect(batches).toBe(4);
    expect(tally).toMatchObject({ eventsSent: 30, eventsAcknowledged: 30, eventsFound: 30, failures: [] });
  });
});

describe('playOn', () => {
  async function pairedPlayer(clock = hastyClock()) {
    const venue = await management.call('createVenue', { body: { name: `Hall ${clock.now()} ${Math.random()}` } });
    const screen = await management.call('createScreen', { body: { venueId: venue.id, name: 'Wall' } });
    const runtime = new RuntimeClient({ url: service.url, clock });
    const player = await pairPlayer({ management, runtime, clock, random: randomBytes }, screen.id, { model: 'TV' });
    return { clock, player, screen };
  }
  const item = {
    creativeId: 'c1a0e5d2-47b3-4c68-9f2a-000000000101',
    creativeUrl: 'http://127.0.0.1/a.svg',
    creativeType: 'image' as const,
    duration: 12,
  };
  const campaignId = '3d2f6c1a-8b47-4e0d-9a55-0c6e1f7b2a10';

  it('shows item after item, reports each, and sends a heartbeat a minute', async () => {
    const { clock, player, screen } = await pairedPlayer();
    await management.call('publishPlaylist', { params: { id: screen.id }, body: { items: [{ ...item, campaignId }] } });
    const stop = new AbortController();
    const startedAt = clock.now();
    const watched = {
      ...clock,
      after: (ms: number, wake: () => void) => clock.after(ms, () => (clock.now() - startedAt > 125_000 ? stop.abort() : wake())),
    };
    await playOn(player, { clock: watched, signal: stop.signal, onFailure: (error) => expect.unreachable(String(error)) });
    const events = await collect(management.all('listEvents', { query: { screenId: screen.id, order: 'asc' } }));
    const types = events.map((one) => one.event.type);
    expect(types[0]).toBe('app_started');
    expect(types.filter((type) => type === 'impression')).toHaveLength(10);
    expect(types.filter((type) => type === 'heartbeat')).toHaveLength(2);
    expect(clock.waits.filter((ms) => ms === 12_000).length).toBeGreaterThanOrEqual(10);
  });

  it('waits in the dark without a playlist, which is no failure', async () => {
    const { player, screen } = await pairedPlayer();
    const stop = new AbortController();
    const slow = { ...systemClock, after: () => () => {} };
    const playing = playOn(player, { clock: slow, signal: stop.signal, onFailure: (error) => expect.unreachable(String(error)) });
    const query = { screenId: screen.id };
    while ((await management.call('listDevices', { query })).items[0]?.lastPlaylistStatus !== 404);
    stop.abort();
    await playing;
    expect((await management.call('listEvents', { query })).items.map((one) => one.event.type)).toEqual(['app_started']);
  });

  it('throws when its device was revoked', async () => {
    const { clock, player } = await pairedPlayer();
    await management.call('revokeDevice', { params: { id: player.deviceId }, body: {} });
    const playing = playOn(player, {
      clock,
      signal: new AbortController().signal,
      onFailure: (error) => expect.unreachable(String(error)),
    });
    await expect(playing).rejects.toMatchObject({ code: 'device_key_revoked' });
  });
});
