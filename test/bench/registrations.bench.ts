// Durable pairing codes and registrations in fleets of three sizes, against two simple
// alternatives: plain lowdb and json-server.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { request } from 'undici';
import { it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { fillWithFleet } from './fleet.ts';
import { median, summary, timeCalls } from './measure.ts';
import { startPeer } from './peers/start-peer.ts';
import { startServed } from './served.ts';

const token = `mak_${'Registered'.repeat(4)}`;
const rounds = 5;
const concurrency = 32;
const model = 'Frame';

interface Contestant {
  name: string;
  size: number;
  /** Registrations in a round. They take about a second. */
  perRound: number;
  screens(count: number): Promise<string[]>;
  code(screenId: string): Promise<string>;
  register(code: string): Promise<unknown>;
  stop(): Promise<void>;
  codesPerSecond: number[];
  registrationsPerSecond: number[];
}

const noRates = () => ({ codesPerSecond: [], registrationsPerSecond: [] });

async function ours(size: number): Promise<Contestant> {
  const data = await temporaryFolder();
  await fillWithFleet(data, size);
  const { url, stop } = await startServed(data, token);
  const management = new ManagementClient({ url, token });
  const anyone = new RuntimeClient({ url });
  const { id: venueId } = await management.call('createVenue', { body: { name: 'Benchmark' } });
  const screen = async () =>
    (await management.call('createScreen', { body: { venueId, name: randomUUID() } })).id;
  return {
    ...{ name: 'signage', size, perRound: 400, stop, ...noRates() },
    screens: (count) => Promise.all(Array.from({ length: count }, screen)),
    code: async (screenId) => (await management.call('createCode', { body: { screenId } })).code,
    register: (pairingCode) => anyone.register({ pairingCode, deviceInfo: { model } }),
  };
}

async function send(
  method: 'POST' | 'PATCH',
  url: string,
  body: object,
): Promise<Record<string, string>> {
  const reply = await request(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (reply.statusCode >= 300) throw new Error(`${url} answered ${reply.statusCode}`);
  return (await reply.body.json()) as Record<string, string>;
}

async function lowdb(size: number, perRound: number): Promise<Contestant> {
  const { url, free, stop } = await startPeer('lowdb', size, perRound * (rounds + 1));
  return {
    ...{ name: 'plain lowdb', size, perRound, stop, ...noRates() },
    screens: async (count) => free.splice(0, count),
    code: async (screenId) =>
      (await send('POST', `${url}/v1/devices/provisioning-codes`, { screenId })).code as string,
    register: (pairingCode) =>
      send('POST', `${url}/devices/register`, { pairingCode, deviceInfo: { model } }),
  };
}

async function jsonServer(size: number, perRound: number, module: string): Promise<Contestant> {
  const { url, free, stop } = await startPeer('json-server', size, perRound * (rounds + 1), [
    module,
  ]);
  return {
    ...{ name: 'json-server', size, perRound, stop, ...noRates() },
    screens: async (count) => free.splice(0, count),
    code: async (screenId) =>
      (await send('POST', `${url}/codes`, { screenId, state: 'pending', createdAt: Date.now() }))
        .id as string,
    async register(code) {
      const device = await send('POST', `${url}/devices`, {
        state: 'bound',
        deviceInfo: { model },
        createdAt: Date.now(),
      });
      await send('PATCH', `${url}/codes/${code}`, { state: 'used', deviceId: device.id });
    },
  };
}

/** Returns the URL of json-server, if it is installed. */
function jsonServerUrl(): string | undefined {
  try {
    return pathToFileURL(createRequire(import.meta.url).resolve(['json', 'server'].join('-'))).href;
  } catch {
    return undefined;
  }
}

/** Returns the number of calls in a second. */
async function rate(
  items: readonly string[],
  call: (item: string) => Promise<unknown>,
): Promise<number> {
  const ms = await timeCalls(items.length, concurrency, (index) => call(items[index] as string));
  return (items.length / ms) * 1000;
}

async function round(one: Contestant): Promise<void> {
  const codes: string[] = [];
  const screens = await one.screens(one.perRound);
  one.codesPerSecond.push(
    await rate(screens, async (screenId) => void codes.push(await one.code(screenId))),
  );
  one.registrationsPerSecond.push(await rate(codes, (code) => one.register(code)));
}

it('codes and registrations per second', async () => {
  const jsonServerModule = jsonServerUrl();
  if (!jsonServerModule)
    console.log('json-server is not installed: npm install --no-save json-server@0.17.4');
  const small = [
    await ours(1_000),
    await lowdb(1_000, 80),
    ...(jsonServerModule ? [await jsonServer(1_000, 40, jsonServerModule)] : []),
  ];
  const middle = [
    await ours(10_000),
    await lowdb(10_000, 8),
    ...(jsonServerModule ? [await jsonServer(10_000, 8, jsonServerModule)] : []),
  ];
  const large = [await ours(100_000), await lowdb(100_000, 4)];
  const all = [...small, ...middle, ...large];
  for (const one of all) await round(one);
  for (const one of all) [one.codesPerSecond, one.registrationsPerSecond] = [[], []];
  for (let n = 0; n < rounds; n++) for (const one of all) await round(one);
  for (const { name, size, codesPerSecond, registrationsPerSecond } of all)
    console.log(
      `${name}, ${size} screens: codes/s ${summary(codesPerSecond, 1)}, registrations/s ${summary(registrationsPerSecond, 1)}`,
    );
  const of = (name: string, size: number) =>
    median(all.find((one) => one.name === name && one.size === size)?.registrationsPerSecond ?? []);
  console.log(
    `registrations at 100,000 screens: ${(of('signage', 100_000) / of('signage', 1_000)).toFixed(2)} of those at 1,000 (bar: 0.67)`,
  );
  console.log(
    `registrations at 10,000 screens: ${(of('signage', 10_000) / of('plain lowdb', 10_000)).toFixed(0)} times plain lowdb (bar: 100)`,
  );
  for (const one of all) await one.stop();
});
