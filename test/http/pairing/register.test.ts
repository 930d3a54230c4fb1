import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/service/problem.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { snapshot } from '../../support/service/snapshot.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const minute = 60_000;
const someInfo = {
  manufacturer: 'Samsung',
  model: 'QM55C',
  osVersion: 'Tizen 7.0',
  appVersion: '2.4.1',
  macAddress: '02:00:5E:10:00:01',
  ipAddress: '192.0.2.17',
  deviceName: 'Lobby TV',
  locationHint: 'left of the lift',
};

let service: TestService;
beforeAll(async () => {
  service = await startService();
});

const screenOf = async (id: string) => (await service.manage('GET', `/v1/screens/${id}`)).body;
const deviceOf = async (id: string) => (await service.manage('GET', `/v1/devices/${id}`)).body;
const statusOf = async (code: string) =>
  (await service.manage('GET', `/v1/devices/provisioning-codes/${code}/status`)).body;
const cancel = (code: string) => service.manage('DELETE', `/v1/devices/provisioning-codes/${code}`);
const revoke = (deviceId: string) => service.manage('POST', `/v1/devices/${deviceId}/revoke`);

describe('POST /devices/register', () => {
  it('201 binds the TV to the screen of the code', async () => {
    const { code, screenId } = await service.code();
    const answer = await service.register(code, { deviceInfo: someInfo });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { deviceId, apiKey, tenantId, ...rest } = answer.body;
    expect(rest).toEqual({
      screenId,
      config: {
        syncIntervalMinutes: 5,
        heartbeatIntervalMinutes: 1,
        cachePolicy: { maxSizeGB: 10, retentionDays: 7 },
      },
    });
    expect(deviceId).toMatch(uuid);
    expect(apiKey).toMatch(/^dak_[0-9A-Za-z]{49}$/);
    expect(await screenOf(screenId)).toMatchObject({
      state: 'active',
      deviceId,
      tenantId,
      provisioningCode: { status: 'used' },
    });
    const seenAt = new Date(service.clock.now()).toISOString();
    expect(await deviceOf(deviceId)).toEqual({
      id: deviceId,
      screenId,
      state: 'bound',
      deviceInfo: someInfo,
      createdAt: seenAt,
      lastSeenAt: seenAt,
      lastAddress: '127.0.0.1',
      lastPlaylistAt: null,
      lastPlaylistVersion: null,
      lastPlaylistStatus: null,
      lastConfigAt: null,
      lastEventAt: null,
      lastRefusedAt: null,
      online: true,
      lastSeq: null,
      missingEvents: 0,
      conflictingEvents: 0,
      report: null,
      suspendedAt: null,
      suspendReason: null,
      simulated: false,
    });
    expect(await statusOf(code)).toMatchObject({
      status: 'used',
      usedAt: seenAt,
      deviceId,
      expiresInSeconds: 0,
    });
    const audit = (await service.manage('GET', '/v1/audit?action=device.register')).body.items[0];
    expect(audit).toMatchObject({
      actor: { kind: 'device', id: deviceId, name: 'Lobby TV' },
      subject: { kind: 'device', id: deviceId },
      address: '127.0.0.1',
      requestId: answer.headers.get('x-request-id'),
      details: { screenId },
    });
  });

  it('201 with the effective config, and with any Authorization header', async () => {
    const screen = await service.screen();
    await service.manage('PUT', `/v1/venues/${screen.venueId}/config`, {
      syncIntervalMinutes: 15,
      wallpaper: { color: 'red' },
    });
    await service.manage('PUT', `/v1/screens/${screen.id}/config`, {
      cachePolicy: { maxSizeGB: 2 },
    });
    const { code } = await service.code(screen.id);
    const answer = await service.register(code, { headers: { authorization: 'Bearer nonsense' } });
    expect(answer.body.config).toEqual({
      syncIntervalMinutes: 15,
      heartbeatIntervalMinutes: 1,
      cachePolicy: { maxSizeGB: 2, retentionDays: 7 },
      wallpaper: { color: 'red' },
    });
  });

  it('400 changes nothing and does not use up the code', async () => {
    const { code } = await service.code();
    const before = await snapshot(service);
    const answer = await service.register(code, { deviceInfo: { macAddress: '02005E100001' } });
    expectProblem(answer, 400, 'invalid_request', ['/deviceInfo/macAddress']);
    expect(await snapshot(service)).toEqual(before);
    expect((await statusOf(code)).status).toBe('pending');
    expect((await service.register(code)).status).toBe(201);
  });

  it('201 with 16 KiB, and 413 body_too_large with one byte more', async () => {
    const { code } = await service.code();
    const text = JSON.stringify({ pairingCode: code, deviceInfo: {} });
    const post = (bytes: number) =>
      service.send('POST', '/devices/register', { body: text.padEnd(bytes, ' ') });
    expectProblem(await post(16 * 1024 + 1), 413, 'body_too_large');
    expect((await post(16 * 1024)).status).toBe(201);
  });

  describe('the code', () => {
    it('201 in the last millisecond before expiry', async () => {
      const { code } = await service.code();
      service.clock.advance(15 * minute - 1);
      expect((await service.register(code)).status).toBe(201);
    });

    type Ending = (code: string, screenId: string) => Promise<unknown>;
    const later = async (minutes: number) => service.clock.advance(minutes * minute);
    it.each<[410 | 409, 'expired' | 'cancelled' | 'used', string, Ending]>([
      [410, 'expired', 'from expiresAt on', () => later(15)],
      [410, 'cancelled', 'past its expiry, too', (code) => cancel(code).then(() => later(16))],
      [
        410,
        'cancelled',
        'after another code of the screen was used by a TV that is revoked now',
        async (_, screenId) => revoke((await service.tv(screenId)).deviceId),
      ],
      [409, 'used', 'past its expiry, too', (code) => service.register(code).then(() => later(16))],
      [
        409,
        'used',
        'after its TV was revoked',
        async (code) => revoke((await service.register(code)).body.deviceId),
      ],
    ])('%i pairing_code_%s %s, and nothing changes', async (status, why, _, end) => {
      const { code, screenId } = await service.code();
      await end(code, screenId);
      const before = await snapshot(service);
      const { state, deviceId } = await screenOf(screenId);
      const answer = await service.register(code, { deviceInfo: someInfo });
      expectProblem(answer, status, `pairing_code_${why}`);
      expect(await snapshot(service)).toEqual(before);
      expect(await screenOf(screenId)).toMatchObject({ state, deviceId });
    });
  });

  describe('a repeated registration', () => {
    const idempotency = (key: string) => ({ headers: { 'idempotency-key': key } });
    let count = 0;
    const freshKey = () => `a-random-secret-${String(++count).padStart(6, '0')}`;

    async function registered() {
      const { code, screenId } = await service.code();
      const sent = idempotency(freshKey());
      const first = await service.register(code, sent);
      expect(first.status, first.text).toBe(201);
      return { code, screenId, first, again: () => service.register(code, sent) };
    }

    it('201 with the config of the first response', async () => {
      const { first, screenId, again } = await registered();
      await service.manage('PUT', `/v1/screens/${screenId}/config`, { syncIntervalMinutes: 99 });
      expect((await again()).text).toBe(first.text);
    });

    it('201 in the last millisecond of the code, 409 from then on', async () => {
      const { first, again } = await registered();
      service.clock.advance(15 * minute - 1);
      expect((await again()).text).toBe(first.text);
      service.clock.advance(1);
      expectProblem(await again(), 409, 'pairing_code_used');
    });

    it('201 after the apiKey was only rejected, for another path', async () => {
      const { first, again } = await registered();
      const other = await service.send('GET', '/devices/nonsense/config', {
        key: first.body.apiKey,
      });
      expectProblem(other, 401, 'device_key_mismatch');
      expect((await again()).text).toBe(first.text);
    });

    it('409 once the device was deleted with its screen, and nothing changes', async () => {
      const { screenId, again } = await registered();
      await service.manage('DELETE', `/v1/screens/${screenId}?force=true`);
      const before = await snapshot(service);
      expectProblem(await again(), 409, 'pairing_code_used');
      expect(await snapshot(service)).toEqual(before);
    });

    it('409 without the key of the first, and with a key when the first had none', async () => {
      const { code } = await registered();
      expectProblem(await service.register(code), 409, 'pairing_code_used');
      const { code: without } = await service.tv();
      const late = await service.register(without, idempotency(freshKey()));
      expectProblem(late, 409, 'pairing_code_used');
    });

    it('another apiKey for another code with the same Idempotency-Key', async () => {
      const key = freshKey();
      const keys = new Set<string>();
      for (const { code } of [await service.code(), await service.code()])
        keys.add((await service.register(code, idempotency(key))).body.apiKey);
      expect(keys.size).toBe(2);
    });

    it('one device when the request and its repetitions are simultaneous', async () => {
      const { code } = await service.code();
      const key = freshKey();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => service.register(code, idempotency(key))),
      );
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]?.status).toBe(201);
      const { screenId } = answers[0]?.body ?? {};
      expect(
        (await service.manage('GET', `/v1/devices?screenId=${screenId}`)).body.items,
      ).toHaveLength(1);
    });
  });
});
