import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { impression, item } from '../support/content.ts';
import { expectProblem } from '../support/problem.ts';
import { type Answer, startService, type TestService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ store: await temporaryFolder() });
});

/**
 * The binding sequence; each step goes on from the one before, and the service is restarted after
 * each.
 */
describe('the binding sequence, on a data folder, with a restart after each step', () => {
  const idempotency = { 'idempotency-key': randomUUID() };
  const batch = [impression({ duration: 15 }), { type: 'heartbeat', timestamp: 1760000015 }];
  let venue: Answer['body'];
  let screen: Answer['body'];
  let code: string;
  let registered: Answer;
  let playlist: Answer;

  const screenNow = async () => (await service.manage('GET', `/v1/screens/${screen.id}`)).body;
  const codeNow = async () =>
    (await service.manage('GET', `/v1/devices/provisioning-codes/${code}/status`)).body;
  const register = () =>
    service.register(code, {
      deviceInfo: { manufacturer: 'Samsung', model: 'QM55C' },
      headers: idempotency,
    });
  const tv = (method: string, what: string, more = {}) =>
    service.send(method, `/devices/${screen.id}/${what}`, { key: registered.body.apiKey, ...more });
  const post = (key: string) =>
    tv('POST', 'events', { body: batch, headers: { 'idempotency-key': key } });

  it('1: a manager makes a venue and a screen, which is provisioning', async () => {
    venue = await service.venue({ name: 'Central Station' });
    screen = await service.screen({ venueId: venue.id, name: 'Platform 1' });
    await service.restart();
    expect(await screenNow()).toEqual(screen);
    expect(screen).toMatchObject({
      state: 'provisioning',
      deviceId: null,
      provisioningCode: null,
      venueId: venue.id,
    });
  });

  it('2: a manager makes a code of 8 characters for about 15 minutes', async () => {
    const made = await service.code(screen.id);
    code = made.code;
    expect(code).toMatch(/^[A-Z0-9]{8}$/);
    await service.restart();
    expect(await codeNow()).toMatchObject({ ...made, usedAt: null, deviceId: null });
    expect(await screenNow()).toMatchObject({
      state: 'provisioning',
      provisioningCode: { status: 'pending' },
    });
  });

  it('3 and 4: the TV registers with it: bound, and a key in return, once', async () => {
    registered = await register();
    expect(registered.status, registered.text).toBe(201);
    const { deviceId, screenId, apiKey } = registered.body;
    expect(screenId).toBe(screen.id);
    expect(apiKey).toMatch(/^dak_/);
    await service.restart();
    expect(await screenNow()).toMatchObject({ state: 'active', deviceId });
    expect(await codeNow()).toMatchObject({ status: 'used', deviceId });
    const device = (await service.manage('GET', `/v1/devices/${deviceId}`)).body;
    expect(device).toMatchObject({
      state: 'bound',
      deviceInfo: { manufacturer: 'Samsung', model: 'QM55C' },
    });
    for (const path of [
      `/v1/devices/${deviceId}`,
      '/v1/devices',
      '/v1/audit',
      `/v1/screens/${screen.id}`,
    ]) {
      expect((await service.manage('GET', path)).text).not.toContain(apiKey);
    }
  });

  it('4, its answer lost: the same 201 byte for byte, also after the restart, until the key is used', async () => {
    await service.manage('PUT', `/v1/venues/${venue.id}/config`, { syncIntervalMinutes: 30 });
    await service.restart();
    expect((await register()).text).toBe(registered.text);
    expectProblem(await service.register(code), 409, 'pairing_code_used');
  });

  it('5: the TV fetches its config and playlist', async () => {
    expectProblem(await tv('GET', 'playlist'), 404, 'playlist_not_found');
    expectProblem(await register(), 409, 'pairing_code_used');
    expect((await tv('GET', 'config')).body).toMatchObject({ syncIntervalMinutes: 30 });
    await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item()] });
    playlist = await tv('GET', 'playlist');
    expect(playlist.status).toBe(200);
    await service.restart();
    const again = await tv('GET', 'playlist', {
      headers: { 'if-none-match': playlist.headers.get('etag') },
    });
    expect(again.status).toBe(304);
    expect((await tv('GET', 'playlist')).text).toBe(playlist.text);
    expectProblem(await register(), 409, 'pairing_code_used');
  });

  it('5: the TV posts events, which are stored once, whatever gets lost', async () => {
    expect((await post('batch-1')).body).toEqual({ received: 2 });
    await service.restart();
    expect((await post('batch-1')).body).toEqual({ received: 2 });
    const events = (await service.manage('GET', '/v1/events?order=asc')).body.items;
    expect(events.map((row: { event: unknown }) => row.event)).toEqual(batch);
    const report = (await service.manage('GET', '/v1/reports/impressions?groupBy=venue')).body
      .items;
    expect(report).toEqual([{ key: venue.id, impressions: 1, seconds: 15 }]);
  });

  it('6: a manager revokes the device: the key is dead and the screen is provisioning', async () => {
    const { deviceId } = registered.body;
    const revoked = await service.manage('POST', `/v1/devices/${deviceId}/revoke`, {
      reason: 'the TV was replaced',
    });
    expect(revoked.body).toMatchObject({
      device: {
        id: deviceId,
        state: 'suspended',
        online: false,
        suspendReason: 'the TV was replaced',
      },
      screen: { id: screen.id, state: 'provisioning', deviceId: null },
    });
    await service.restart();
    for (const [method, what] of [
      ['GET', 'playlist'],
      ['GET', 'config'],
      ['POST', 'events'],
    ] as const) {
      expectProblem(
        await tv(method, what, method === 'POST' ? { body: batch } : {}),
        401,
        'device_key_revoked',
      );
    }
    expect(await screenNow()).toMatchObject({ state: 'provisioning', deviceId: null });
    expect((await service.manage('GET', '/v1/events')).body.items).toHaveLength(2);
  });

  it('and a new TV can be bound, which plays what was published', async () => {
    const next = await service.tv(screen.id);
    await service.restart();
    expect(next.deviceId).not.toBe(registered.body.deviceId);
    expect((await next.send('GET', 'playlist')).text).toBe(playlist.text);
    expectProblem(await tv('GET', 'playlist'), 401, 'device_key_revoked');
    const devices = (await service.manage('GET', `/v1/devices?screenId=${screen.id}`)).body.items;
    expect(devices.map((device: { state: string }) => device.state)).toEqual([
      'suspended',
      'bound',
    ]);
  });
});
