import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { DeviceClient } from '../../src/entry/browser.ts';
import { ManagementClient, RuntimeClient } from '../../src/entry/client.ts';
import { runConformance, runTvExam } from '../../src/entry/conformance.ts';
import { Player, runFleet } from '../../src/entry/simulator.ts';
import { startService, storeTests, type TestService, testClock } from '../../src/entry/testing.ts';
import { openStore, serve } from '../../src/index.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** A function of the package, called as JavaScript can call it. */
// biome-ignore lint/suspicious/noExplicitAny: wrong types are the subject
type Loose = any;

const [clients, fleet, tv] = [
  () => ({ url: service.url, token: 'mak_x' }),
  () => ({ url: service.url, token: service.adminToken, count: 1, durationMs: 1 }),
  () => ({ client: new RuntimeClient({ url: service.url }), deviceInfo: { model: 'TV' } }),
];
const management = () => service.management as Loose;
const conformance = () => ({ url: service.url, token: String(service.adminToken) });
const nothing = () => {};

it.each<[string, string, () => unknown]>([
  ['serve', 'serve takes an object of options', () => serve('memory:' as Loose)],
  ['serve', 'serve takes an object of options', () => serve(null as Loose)],
  ['serve', 'serve takes an object of options', () => serve(new Date() as Loose)],
  ['serve', 'The option store must be memory:', () => serve({ port: 0, store: ':memory:' })],
  ['serve', 'serve has no option "prot". Did you mean port?', () => serve({ prot: 0 } as Loose)],
  ['on', "on: event must be notice, not 'notise'", () => service.on('notise' as Loose, nothing)],
  ['on', 'on: listener must be a function', () => service.on('notice', undefined as Loose)],
  ['setFaults', 'setFaults: rules must be a list of texts', () => service.setFaults('x' as Loose)],
  ['storeTests', 'storeTests: open must be a function', () => (storeTests as Loose)()],
  ['openStore', 'openStore: location must be memory:', () => openStore(':memory:')],
  ['openStore', 'openStore: location must be a text', () => openStore(undefined as Loose)],
  ['openStore', 'has no option "foo"', () => openStore('memory:', { foo: 1 } as Loose)],
  [
    'openStore',
    'The option database.poolSize must be a whole number from 2 to 200, not',
    () => openStore('memory:', { database: { poolSize: 1 } }),
  ],
  ['startService', 'options must be an object', () => startService(null as Loose)],
  ['startService', 'has no option "codeTtl"', () => startService({ codeTtl: 1 } as Loose)],
  [
    'startService',
    'clock must be a TestClock',
    () => startService({ clock: { now: Date.now, after: nothing } as Loose }),
  ],
  ['advance', 'advance: byMs must not be negative', () => service.clock.advance(-1)],
  ['advance', 'byMs must be a finite number', () => service.clock.advance('5' as Loose)],
  ['advanceAsync', 'byMs must be a finite number', () => service.clock.advanceAsync(Number.NaN)],
  ['set', 'nowMs must be a finite number', () => service.clock.set(Number.NaN)],
  ['testClock', 'startMs must be a finite number', () => testClock('2026-01-01' as Loose)],
  ['call', 'There is no operation "nope"', () => management().call('nope')],
  [
    'call',
    'The input of listVenues cannot have "querry", only params, query',
    () => management().call('listVenues', { querry: {} }),
  ],
  ['call', 'cannot have "name"', () => management().call('createVenue', { name: 'x' })],
  [
    'call',
    'has no parameter screenId',
    () => management().call('getScreen', { params: { id: 'x', screenId: 'x' } }),
  ],
  [
    'call',
    'The input of listVenues: attempts must be a number of at least 0',
    () => management().call('listVenues', { attempts: 'x' }),
  ],
  [
    'ManagementClient',
    'The options of a client must be an object with token, tenantId, url',
    () => new (ManagementClient as Loose)(),
  ],
  [
    'ManagementClient',
    'The options of a client must be an object',
    () => new ManagementClient('http://127.0.0.1:1' as Loose),
  ],
  [
    'ManagementClient',
    'timeoutMs must be a number of at least 0',
    () => new ManagementClient({ ...clients(), timeoutMs: '5' as Loose }),
  ],
  [
    'ManagementClient',
    'The option retry of a client cannot have "attempt"',
    () => new ManagementClient({ ...clients(), retry: { attempt: 5 } as Loose }),
  ],
  [
    'RuntimeClient',
    'cannot have "apikey", only apiKey',
    () => new RuntimeClient({ url: service.url, apikey: 'x' } as Loose),
  ],
  [
    'DeviceClient',
    'makeRequester of a client is required',
    () => new DeviceClient({ url: service.url } as Loose),
  ],
  ['Player', 'Player takes an object of options', () => new (Player as Loose)()],
  ['Player', 'Player needs the option client', () => new Player({ deviceInfo: {} } as Loose)],
  ['Player', 'has no option "nextcode"', () => new Player({ ...tv(), nextcode: 1 } as Loose)],
  ['Player', 'speed must be a number above 0, not -1', () => new Player({ ...tv(), speed: -1 })],
  [
    'Player',
    'The option client must be an object with withKey, register',
    () => new Player({ ...tv(), client: service.management } as Loose),
  ],
  ['runFleet', 'runFleet takes an object of options', () => (runFleet as Loose)()],
  ['runFleet', 'has no option "cuont"', () => runFleet({ ...fleet(), cuont: 1 } as Loose)],
  [
    'runFleet',
    "The option count must be a whole number from 1 to 1000000, not '1'",
    () => runFleet({ ...fleet(), count: '1' as Loose }),
  ],
  [
    'runFleet',
    'rotateEveryMs must be a number of milliseconds of at least 1000, not 999',
    () => runFleet({ ...fleet(), rotateEveryMs: 999 }),
  ],
  [
    'runFleet',
    'maxWaitSeconds must be a whole number from 50 to 600',
    () => runFleet({ ...fleet(), maxWaitSeconds: 5 }),
  ],
  ['runTvExam', 'runTvExam takes an object of options', () => (runTvExam as Loose)()],
  ['runTvExam', 'runTvExam needs the option onCode', () => runTvExam({} as Loose)],
  [
    'runTvExam',
    'has no option "quik". Did you mean quick?',
    () => runTvExam({ onCode: nothing, quik: true } as Loose),
  ],
  [
    'runTvExam',
    'parts must be a list of register, playlist',
    () => runTvExam({ onCode: nothing, parts: ['nope'] as Loose }),
  ],
  ['runTvExam', 'pace must be a number', () => runTvExam({ onCode: nothing, pace: 0 })],
  ['runConformance', 'takes an object', () => (runConformance as Loose)().next()],
  [
    'runConformance',
    'only must be required or profile',
    () => runConformance({ ...conformance(), only: 'zzz' as Loose }).next(),
  ],
  [
    'runConformance',
    'allow must be a list of time, guessing',
    () => runConformance({ ...conformance(), allow: ['zzz'] as Loose }).next(),
  ],
])('%s: invalid_option: %s', async (_of, message, call) => {
  const refused = vi.fn();
  await Promise.resolve().then(call).catch(refused);
  expect(refused).toHaveBeenCalledOnce();
  expect(refused.mock.lastCall?.[0]).toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(message),
  });
});
