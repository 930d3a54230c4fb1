// Prints the source modules that execute for one request, by V8's precise coverage. A module counts
// if one of its functions was called. Run `npm run build` first.
import { mkdtemp, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ManagementClient, serve } from '../../../dist/index.js';

const dist = new URL('../../../dist/', import.meta.url).href;
const adminToken = `mak_${'Modules'.repeat(5)}`;
const item = {
  creativeId: 'c1a0e5d2-47b3-4c68-9f2a-000000000101',
  creativeUrl: 'https://media.example.com/spring.mp4',
  creativeType: 'image',
  duration: 10,
};

const folder = await mkdtemp(join(tmpdir(), 'signage-modules-'));
const service = await serve({ port: 0, store: join(folder, 'data'), adminToken });
const management = new ManagementClient({ url: service.url, token: adminToken });
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Not a client of `dist`: its modules would count. */
async function send(method, path, { headers, body } = {}) {
  const response = await fetch(`${service.url}${path}`, { method, headers, body });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** Returns the modules with a function that was called since the last call. */
async function takeModules() {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url, functions }) => {
      return url.startsWith(dist) && functions.some(({ ranges: [{ count }] }) => count > 0);
    })
    .map(({ url }) => url.slice(dist.length).replace(/\.js$/, '.ts'))
    .sort();
}

/** Waits for work in the background, such as the mirror, and forgets its modules. */
async function forgetModules() {
  await sleep(500);
  await takeModules();
}

async function register(venueId, name) {
  const screen = await management.call('createScreen', { body: { venueId, name } });
  const params = { id: screen.id };
  await management.call('publishPlaylist', { params, body: { items: [item] } });
  const { code } = await management.call('createCode', { body: { screenId: screen.id } });
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ pairingCode: code, deviceInfo: { model: 'Frame' } });
  await forgetModules();
  return send('POST', '/devices/register', { headers, body });
}

function print(request, modules, bar) {
  const verdict = modules.length <= bar ? 'met' : 'MISSED';
  console.log(`${request}: ${modules.length} modules (bar: ${bar}, ${verdict})`);
  for (const module of modules) console.log(`  ${module}`);
}

const { id: venueId } = await management.call('createVenue', { body: { name: 'Venue' } });
await register(venueId, 'warm-up');
const { screenId, apiKey } = await register(venueId, 'measured');
const registration = await takeModules();
const headers = { authorization: `Bearer ${apiKey}` };
const getPlaylist = () => send('GET', `/devices/${screenId}/playlist`, { headers });
for (let warmUp = 0; warmUp < 3; warmUp++) await getPlaylist();
await forgetModules();
await getPlaylist();
print('GET /devices/:id/playlist', await takeModules(), 25);
print('POST /devices/register', registration, 40);

session.disconnect();
await service.close();
await rm(folder, { recursive: true });
