import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/problem.ts';
import { type Sent, startService, type TestService } from '../../support/service.ts';
import { snapshot } from '../../support/snapshot.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const minute = 60_000;
const allNull = {
  manufacturer: null,
  model: null,
  osVersion: null,
  appVersion: null,
  macAddress: null,
  ipAddress: null,
  deviceName: null,
  locationHint: null,
};
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
const post = (body: unknown, sent: Sent = {}) =>
  service.send('POST', '/devices/register', { body, ...sent });

/** Expects that an error changed no record, and that the code still works. */
async function expectUnused(code: string, before: unknown): Promise<void> {
  expect(await snapshot(service)).toEqual(before);
  expect((await statusOf(code)).status).toBe('pending');
  expect((await service.register(code)).status).toBe(201);
}

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
    expect(apiKey).toMatch(/^dak_/);
    const screen = await screenOf(screenId);
    expect(screen).toMatchObject({
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

  it('201 with a key of 43 base62 characters and their CRC-32, which works at once', async () => {
    const { code, screenId } = await service.code();
    const { apiKey } = (await service.register(code)).body;
    expect(apiKey).toMatch(/^dak_[0-9A-Za-z]{49}$/);
    const secret = apiKey.slice(4, 47);
    const checksum = apiKey.slice(47);
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const value = [...checksum].reduce((sum, digit) => sum * 62 + alphabet.indexOf(digit), 0);
    expect(value).toBe(crc32(secret));
    expect((await service.send('GET', `/devices/${screenId}/config`, { key: apiKey })).status).toBe(
      200,
    );
  });

  it('201 with the effective config', async () => {
    const screen = await service.screen();
    await service.manage('PUT', `/v1/venues/${screen.venueId}/config`, {
      syncIntervalMinutes: 15,
      wallpaper: { color: 'red' },
    });
    await service.manage('PUT', `/v1/screens/${screen.id}/config`, {
      cachePolicy: { maxSizeGB: 2 },
    });
    const { config } = await service.tv(screen.id);
    expect(config).toEqual({
      syncIntervalMinutes: 15,
      heartbeatIntervalMinutes: 1,
      cachePolicy: { maxSizeGB: 2, retentionDays: 7 },
      wallpaper: { color: 'red' },
    });
  });

  it('201 for a new device on the same screen after a revoke; the old one stays suspended', async () => {
    const first = await service.tv();
    await service.manage('POST', `/v1/devices/${first.deviceId}/revoke`);
    const second = await service.tv(first.screenId);
    expect(second.deviceId).not.toBe(first.deviceId);
    expect(second.apiKey).not.toBe(first.apiKey);
    expect(await screenOf(first.screenId)).toMatchObject({
      state: 'active',
      deviceId: second.deviceId,
    });
    expect(await deviceOf(first.deviceId)).toMatchObject({ state: 'suspended' });
  });

  it('201 with any Authorization header', async () => {
    const { code } = await service.code();
    expect(
      (await service.register(code, { headers: { authorization: 'Bearer nonsense' } })).status,
    ).toBe(201);
  });

  describe('the body', () => {
    it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
      ['an empty deviceInfo', {}, {}],
      ['null, as absent', { ...allNull }, {}],
      [
        'members that we do not know, ignored',
        { model: 'X', serial: '1', nested: { a: 1 } },
        { model: 'X' },
      ],
      ['texts of 255 characters', { model: 'x'.repeat(255) }, { model: 'x'.repeat(255) }],
      ['empty texts', { model: '' }, { model: '' }],
      [
        'a MAC address with hyphens, in lower case',
        { macAddress: '02-00-5e-10-00-0f' },
        { macAddress: '02-00-5e-10-00-0f' },
      ],
      ['an IPv6 address', { ipAddress: '2001:db8::17' }, { ipAddress: '2001:db8::17' }],
      [
        'an IPv4-mapped address',
        { ipAddress: '::ffff:192.0.2.17' },
        { ipAddress: '::ffff:192.0.2.17' },
      ],
      ['a lone surrogate', { deviceName: '\ud800' }, { deviceName: '\ud800' }],
    ])('201 with %s', async (_, deviceInfo, kept) => {
      const { code } = await service.code();
      const answer = await service.register(code, { deviceInfo });
      expect(answer.status, answer.text).toBe(201);
      expect((await deviceOf(answer.body.deviceId)).deviceInfo).toEqual({ ...allNull, ...kept });
    });

    it('201 with further members beside deviceInfo', async () => {
      const { code } = await service.code();
      expect(
        (await post({ pairingCode: code, deviceInfo: {}, screenId: 'x', more: [1] })).status,
      ).toBe(201);
    });

    it.each<[string, unknown, string[]]>([
      ['no object', [], ['']],
      ['null', null, ['']],
      ['nothing in it', {}, ['/pairingCode', '/deviceInfo']],
      ['a code that is no string', { pairingCode: 12345678, deviceInfo: {} }, ['/pairingCode']],
      ['a code of 7 characters', { pairingCode: 'ABCD234', deviceInfo: {} }, ['/pairingCode']],
      ['a code of 9 characters', { pairingCode: 'ABCD23456', deviceInfo: {} }, ['/pairingCode']],
      ['a code in lower case', { pairingCode: 'abcd2345', deviceInfo: {} }, ['/pairingCode']],
      ['a code with a hyphen', { pairingCode: 'ABCD-345', deviceInfo: {} }, ['/pairingCode']],
      ['a code with a line break', { pairingCode: 'ABCD2345\n', deviceInfo: {} }, ['/pairingCode']],
      [
        'a code in full-width letters',
        { pairingCode: 'ＡBCD2345', deviceInfo: {} },
        ['/pairingCode'],
      ],
      ['no deviceInfo', { pairingCode: '$' }, ['/deviceInfo']],
      ['null as deviceInfo', { pairingCode: '$', deviceInfo: null }, ['/deviceInfo']],
      ['an array as deviceInfo', { pairingCode: '$', deviceInfo: [] }, ['/deviceInfo']],
      ['a text as deviceInfo', { pairingCode: '$', deviceInfo: 'TV' }, ['/deviceInfo']],
      ['a number as model', { pairingCode: '$', deviceInfo: { model: 55 } }, ['/deviceInfo/model']],
      [
        'a text of 256 characters',
        { pairingCode: '$', deviceInfo: { locationHint: 'x'.repeat(256) } },
        ['/deviceInfo/locationHint'],
      ],
      [
        'every member wrong',
        {
          pairingCode: '',
          deviceInfo: Object.fromEntries(Object.keys(allNull).map((name) => [name, 1])),
        },
        ['/pairingCode', ...Object.keys(allNull).map((name) => `/deviceInfo/${name}`)],
      ],
      ...[
        '02:00-5E:10:00:01',
        '02005E100001',
        '02:00:5E:10:00',
        '02:00:5E:10:00:0G',
        '02:00:5E:10:00:01:02',
        '',
        ' 02:00:5E:10:00:01',
      ].map((macAddress): [string, unknown, string[]] => [
        `the MAC address ${JSON.stringify(macAddress)}`,
        { pairingCode: '$', deviceInfo: { macAddress } },
        ['/deviceInfo/macAddress'],
      ]),
      ...[
        '256.0.2.1',
        '192.0.2',
        '192.0.2.1/24',
        '01.2.3.4',
        'fe80::1%eth0',
        '2001:db8:::1',
        '12345::',
        '[::1]',
        '',
        ' 192.0.2.1',
      ].map((ipAddress): [string, unknown, string[]] => [
        `the IP address ${JSON.stringify(ipAddress)}`,
        { pairingCode: '$', deviceInfo: { ipAddress } },
        ['/deviceInfo/ipAddress'],
      ]),
    ])('400 invalid_request with %s, and the code is not used up', async (_, body, paths) => {
      const { code } = await service.code();
      const before = await snapshot(service);
      const given =
        (body as { pairingCode?: string } | null)?.pairingCode === '$'
          ? { ...(body as object), pairingCode: code }
          : body;
      expectProblem(await post(given), 400, 'invalid_request', paths);
      await expectUnused(code, before);
    });

    it.each<[string, Sent]>([
      ['an empty body', {}],
      ['white space', { body: '  \n' }],
      ['bad syntax', { body: '{"pairingCode":' }],
      ['single quotes', { body: "{'a':1}" }],
      [
        'bytes that are no UTF-8',
        { body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) },
      ],
      ['a byte order mark', { body: '\ufeff{}' }],
      ['65 levels', { body: '['.repeat(65) + ']'.repeat(65) }],
    ])('400 invalid_json with %s', async (_, sent) => {
      expectProblem(await service.send('POST', '/devices/register', sent), 400, 'invalid_json');
    });

    it('400 invalid_request, not invalid_json, for 64 levels', async () => {
      expectProblem(await post('['.repeat(64) + ']'.repeat(64)), 400, 'invalid_request');
    });

    it('201 with 16 KiB, and 413 body_too_large with one byte more', async () => {
      const { code } = await service.code();
      const before = await snapshot(service);
      const padded = (bytes: number) => {
        const body = { pairingCode: code, deviceInfo: {}, padding: '' };
        return JSON.stringify({
          ...body,
          padding: 'x'.repeat(bytes - JSON.stringify(body).length),
        });
      };
      expectProblem(await post(padded(16 * 1024 + 1)), 413, 'body_too_large');
      expect(await snapshot(service)).toEqual(before);
      expect((await post(padded(16 * 1024))).status).toBe(201);
    });

    it.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      'json',
      '+json',
      '',
    ])('415 unsupported_media_type for Content-Type: %s', async (type) => {
      const { code } = await service.code();
      const before = await snapshot(service);
      expectProblem(
        await service.register(code, { headers: { 'content-type': type } }),
        415,
        'unsupported_media_type',
      );
      await expectUnused(code, before);
    });

    it.each([
      'application/json',
      'Application/JSON; charset=utf-8',
      'application/vnd.tv+json',
      'application/json;charset=latin1',
    ])('201 for Content-Type: %s', async (type) => {
      const { code } = await service.code();
      expect((await service.register(code, { headers: { 'content-type': type } })).status).toBe(
        201,
      );
    });

    it('201 without a Content-Type', async () => {
      const { code } = await service.code();
      expect((await service.register(code, { untyped: true })).status).toBe(201);
    });

    it('415 for a compressed body', async () => {
      const { code } = await service.code();
      expectProblem(
        await service.register(code, { headers: { 'content-encoding': 'gzip' } }),
        415,
        'unsupported_media_type',
      );
    });
  });

  describe('the code', () => {
    it('404 pairing_code_not_found when it is unknown', async () => {
      const before = await snapshot(service);
      expectProblem(await service.register('ABCDEFGH'), 404, 'pairing_code_not_found');
      expect(await snapshot(service)).toEqual(before);
    });

    it('201 in the last millisecond before expiry', async () => {
      const { code } = await service.code();
      service.clock.advance(15 * minute - 1);
      expect((await service.register(code)).status).toBe(201);
    });

    it('410 pairing_code_expired from expiresAt on, and the screen stays as it is', async () => {
      const { code, screenId, expiresAt } = await service.code();
      service.clock.advance(15 * minute);
      expect(new Date(service.clock.now()).toISOString()).toBe(expiresAt);
      const before = await snapshot(service);
      expectProblem(await service.register(code), 410, 'pairing_code_expired');
      expect(await snapshot(service)).toEqual(before);
      expect(await screenOf(screenId)).toMatchObject({ state: 'provisioning', deviceId: null });
    });

    it('410 pairing_code_cancelled when it was deleted', async () => {
      const { code, screenId } = await service.code();
      await service.manage('DELETE', `/v1/devices/provisioning-codes/${code}`);
      const before = await snapshot(service);
      expectProblem(await service.register(code), 410, 'pairing_code_cancelled');
      expect(await snapshot(service)).toEqual(before);
      expect(await screenOf(screenId)).toMatchObject({ state: 'provisioning', deviceId: null });
    });

    it('410 pairing_code_cancelled, not expired, even past its expiry', async () => {
      const { code } = await service.code();
      await service.manage('DELETE', `/v1/devices/provisioning-codes/${code}`);
      service.clock.advance(16 * minute);
      expectProblem(await service.register(code), 410, 'pairing_code_cancelled');
    });

    it('410 pairing_code_cancelled when another code of the screen was used, even after that device is revoked', async () => {
      const { code, screenId } = await service.code();
      const { deviceId } = await service.tv(screenId);
      expectProblem(await service.register(code), 410, 'pairing_code_cancelled');
      await service.manage('POST', `/v1/devices/${deviceId}/revoke`);
      expectProblem(await service.register(code), 410, 'pairing_code_cancelled');
      expect(await screenOf(screenId)).toMatchObject({ state: 'provisioning', deviceId: null });
    });

    it('410 pairing_code_cancelled when the screen was deleted', async () => {
      const { code, screenId } = await service.code();
      expect((await service.manage('DELETE', `/v1/screens/${screenId}`)).status).toBe(204);
      expectProblem(await service.register(code), 410, 'pairing_code_cancelled');
    });

    it('409 pairing_code_used when it was used, and the bound device stays', async () => {
      const tv = await service.tv();
      const before = await snapshot(service);
      expectProblem(
        await service.register(tv.code, { deviceInfo: someInfo }),
        409,
        'pairing_code_used',
      );
      expect(await snapshot(service)).toEqual(before);
      expect((await tv.send('GET', 'config')).status).toBe(200);
    });

    it('409 pairing_code_used even past its expiry, and after the device was revoked', async () => {
      const tv = await service.tv();
      service.clock.advance(16 * minute);
      expectProblem(await service.register(tv.code), 409, 'pairing_code_used');
      await service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
      expectProblem(await service.register(tv.code), 409, 'pairing_code_used');
      expect(await screenOf(tv.screenId)).toMatchObject({ state: 'provisioning', deviceId: null });
    });
  });

  describe('a repeated registration', () => {
    const idempotency = (key: string) => ({ headers: { 'idempotency-key': key } });
    let count = 0;
    const freshKey = () => `a-random-secret-${String(++count).padStart(6, '0')}`;

    async function registered(deviceInfo: unknown = {}) {
      const { code, screenId } = await service.code();
      const key = freshKey();
      const first = await service.register(code, { deviceInfo, ...idempotency(key) });
      expect(first.status, first.text).toBe(201);
      return {
        code,
        screenId,
        key,
        first,
        again: (info: unknown = deviceInfo) =>
          service.register(code, { deviceInfo: info, ...idempotency(key) }),
      };
    }

    it('201 with the same bytes for the same code and Idempotency-Key, creating nothing twice', async () => {
      const { first, again } = await registered(someInfo);
      const before = await snapshot(service);
      for (let repeat = 0; repeat < 3; repeat++) {
        const answer = await again();
        expect(answer.status).toBe(201);
        expect(answer.text).toBe(first.text);
        expect(answer.headers.get('cache-control')).toBe('no-store');
      }
      expect(await snapshot(service)).toEqual(before);
    });

    it('201 with a well-formed key that works', async () => {
      const { first, screenId, again } = await registered();
      expect(first.body.apiKey).toMatch(/^dak_[0-9A-Za-z]{49}$/);
      const { apiKey } = (await again()).body;
      expect(
        (await service.send('GET', `/devices/${screenId}/config`, { key: apiKey })).status,
      ).toBe(200);
    });

    it('201 with the config of the first response', async () => {
      const { first, screenId, again } = await registered();
      await service.manage('PUT', `/v1/screens/${screenId}/config`, { syncIntervalMinutes: 99 });
      expect((await again()).text).toBe(first.text);
    });

    it('201 with any deviceInfo, and the stored one stays', async () => {
      const { first, again } = await registered(someInfo);
      expect((await again({ model: 'another' })).text).toBe(first.text);
      expect((await deviceOf(first.body.deviceId)).deviceInfo).toEqual(someInfo);
    });

    it('201 in the last millisecond of the code, 409 from then on', async () => {
      const { first, again } = await registered();
      service.clock.advance(15 * minute - 1);
      expect((await again()).text).toBe(first.text);
      service.clock.advance(1);
      expectProblem(await again(), 409, 'pairing_code_used');
    });

    it('409 once the apiKey has authenticated a request', async () => {
      const { first, screenId, again } = await registered();
      await service.send('GET', `/devices/${screenId}/playlist`, { key: first.body.apiKey });
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

    it('409 once the device was revoked, and the screen stays free', async () => {
      const { first, screenId, again } = await registered();
      await service.manage('POST', `/v1/devices/${first.body.deviceId}/revoke`);
      expectProblem(await again(), 409, 'pairing_code_used');
      expect(await screenOf(screenId)).toMatchObject({ state: 'provisioning', deviceId: null });
    });

    it('409 once the device was deleted with its screen', async () => {
      const { screenId, again } = await registered();
      expect((await service.manage('DELETE', `/v1/screens/${screenId}?force=true`)).status).toBe(
        204,
      );
      expectProblem(await again(), 409, 'pairing_code_used');
    });

    it('409 with another key, or none', async () => {
      const { code } = await registered();
      expectProblem(
        await service.register(code, idempotency(freshKey())),
        409,
        'pairing_code_used',
      );
      expectProblem(await service.register(code), 409, 'pairing_code_used');
    });

    it('409 with a key when the first had none', async () => {
      const { code } = await service.code();
      await service.register(code);
      expectProblem(
        await service.register(code, idempotency(freshKey())),
        409,
        'pairing_code_used',
      );
    });

    it('another apiKey for another code with the same Idempotency-Key', async () => {
      const one = await service.code();
      const two = await service.code();
      const key = freshKey();
      const [first, second] = [
        await service.register(one.code, idempotency(key)),
        await service.register(two.code, idempotency(key)),
      ];
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(first.body.apiKey).not.toBe(second.body.apiKey);
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

    it.each([
      ['15 characters', 'x'.repeat(15)],
      ['256 characters', 'x'.repeat(256)],
      ['a space', 'aaaaaaaa aaaaaaaa'],
      ['a letter beyond ASCII', 'aaaaaaaaaaaaaaaé'],
      ['nothing', ''],
    ])(
      '400 header.idempotency-key for a key with %s, and the code is not used up',
      async (_, key) => {
        const { code } = await service.code();
        const before = await snapshot(service);
        expectProblem(await service.register(code, idempotency(key)), 400, 'invalid_request', [
          'header.idempotency-key',
        ]);
        await expectUnused(code, before);
      },
    );

    it.each([
      ['16 characters', `!${'~'.repeat(15)}`],
      ['255 characters', 'x'.repeat(255)],
    ])('201 with a key of %s', async (_, key) => {
      const { code } = await service.code();
      expect((await service.register(code, idempotency(key))).status).toBe(201);
    });
  });
});
