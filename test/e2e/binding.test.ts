import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { impression, item } from '../support/service/content.ts';
import { expectProblem } from '../support/service/problem.ts';
import { startService } from '../support/service/service.ts';

it('a screen goes from its first code to the next TV on a data folder, with a restart after each step', async () => {
  const service = await startService({ store: await temporaryFolder() });
  const venue = await service.venue({ name: 'Central Station' });
  const screen = await service.screen({ venueId: venue.id, name: 'Platform 1' });
  const screenNow = async () => (await service.manage('GET', `/v1/screens/${screen.id}`)).body;
  await service.restart();
  expect(await screenNow()).toEqual(screen);

  const { code } = await service.code(screen.id);
  await service.restart();
  expect(await screenNow()).toMatchObject({
    state: 'provisioning',
    provisioningCode: { status: 'pending' },
  });

  const headers = { 'idempotency-key': randomUUID() };
  const register = () => service.register(code, { deviceInfo: { model: 'QM55C' }, headers });
  const registered = await register();
  expect(registered.status, registered.text).toBe(201);
  const { deviceId, apiKey: key } = registered.body;
  const tv = (method: string, what: string, more = {}) =>
    service.send(method, `/devices/${screen.id}/${what}`, { key, ...more });
  await service.manage('PUT', `/v1/venues/${venue.id}/config`, { syncIntervalMinutes: 30 });
  await service.restart();
  expect(await screenNow()).toMatchObject({ state: 'active', deviceId });
  const reads = [`/v1/devices/${deviceId}`, '/v1/devices', '/v1/audit', `/v1/screens/${screen.id}`];
  for (const path of reads) expect((await service.manage('GET', path)).text).not.toContain(key);
  // Its answer was lost: the same again, until the key is used.
  expect((await register()).text).toBe(registered.text);
  expectProblem(await service.register(code), 409, 'pairing_code_used');

  expect((await tv('GET', 'config')).body).toMatchObject({ syncIntervalMinutes: 30 });
  expectProblem(await register(), 409, 'pairing_code_used');
  await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item()] });
  const playlist = await tv('GET', 'playlist');
  const known = { 'if-none-match': playlist.headers.get('etag') ?? '' };
  await service.restart();
  expect((await tv('GET', 'playlist', { headers: known })).status).toBe(304);
  expect((await tv('GET', 'playlist')).text).toBe(playlist.text);
  expectProblem(await register(), 409, 'pairing_code_used');

  const body = [impression({ duration: 15 }), { type: 'heartbeat', timestamp: 1760000015 }];
  const post = () => tv('POST', 'events', { body, headers: { 'idempotency-key': 'batch-1' } });
  expect((await post()).body).toEqual({ received: 2 });
  await service.restart();
  expect((await post()).body).toEqual({ received: 2 });
  const report = await service.manage('GET', '/v1/reports/impressions?groupBy=venue');
  expect(report.body.items).toMatchObject([{ key: venue.id, impressions: 1, seconds: 15 }]);

  await service.manage('POST', `/v1/devices/${deviceId}/revoke`, { reason: 'it was replaced' });
  await service.restart();
  for (const answer of [await tv('GET', 'playlist'), await tv('GET', 'config'), await post()])
    expectProblem(answer, 401, 'device_key_revoked');
  expect(await screenNow()).toMatchObject({ state: 'provisioning', deviceId: null });
  const events = (await service.manage('GET', '/v1/events?order=asc')).body.items;
  expect(events.map((row: { event: unknown }) => row.event)).toEqual(body);

  const next = await service.tv(screen.id);
  await service.restart();
  expect(next.deviceId).not.toBe(deviceId);
  expect((await next.send('GET', 'playlist')).text).toBe(playlist.text);
  expectProblem(await tv('GET', 'playlist'), 401, 'device_key_revoked');
});
