import { randomUUID } from 'node:crypto';
import { beforeAll, describe, it } from 'vitest';
import type { ServiceErrorCode } from '../../../src/wire/errors.ts';
import { expectProblem } from '../../support/problem.ts';
import { type BoundTv, type Sent, startService, type TestService } from '../../support/service.ts';

const large = 'x'.repeat(1024 * 1024 + 1);
const foreign = { 'content-type': 'text/plain' };
const unknown = randomUUID();

let service: TestService;
let tv: BoundTv;
let viewer: string;
beforeAll(async () => {
  service = await startService();
  tv = await service.tv();
  viewer = await service.token('viewer');
});

/** A request that fails this check and all later ones, and passes the earlier ones. */
type Row = [
  status: number,
  code: ServiceErrorCode,
  wrong: string,
  method: string,
  path: () => string,
  sent: () => Sent,
];

const as = (key: () => string, sent: Sent) => () => ({ key: key(), ...sent });

const rows: Record<string, Row[]> = {
  registration: [
    [
      404,
      'not_found',
      'path, method, type and body',
      'PUT',
      () => '/devices/register/x',
      () => ({ body: large, headers: foreign }),
    ],
    [
      405,
      'method_not_allowed',
      'method, size, type',
      'PUT',
      () => '/devices/register',
      () => ({ body: large, headers: foreign }),
    ],
    [
      413,
      'body_too_large',
      'size, type, JSON',
      'POST',
      () => '/devices/register',
      () => ({ body: 'x'.repeat(16_385), headers: foreign }),
    ],
    [
      415,
      'unsupported_media_type',
      'type, JSON',
      'POST',
      () => '/devices/register',
      () => ({ body: '{', headers: foreign }),
    ],
    [
      400,
      'invalid_json',
      'JSON, key',
      'POST',
      () => '/devices/register',
      () => ({ body: '{', headers: { 'idempotency-key': 'x' } }),
    ],
    [
      400,
      'invalid_request',
      'body, code',
      'POST',
      () => '/devices/register',
      () => ({ body: { pairingCode: tv.code, deviceInfo: 1 } }),
    ],
    [
      400,
      'invalid_request',
      'key, code',
      'POST',
      () => '/devices/register',
      () => ({
        body: { pairingCode: tv.code, deviceInfo: {} },
        headers: { 'idempotency-key': 'x' },
      }),
    ],
    [
      409,
      'pairing_code_used',
      'state',
      'POST',
      () => '/devices/register',
      () => ({ body: { pairingCode: tv.code, deviceInfo: {} } }),
    ],
  ],
  events: [
    [
      404,
      'not_found',
      'path, key, size',
      'POST',
      () => `/devices/${tv.screenId}/event`,
      () => ({ body: large }),
    ],
    [
      405,
      'method_not_allowed',
      'method, key, size',
      'PUT',
      () => `/devices/${unknown}/events`,
      () => ({ body: large }),
    ],
    [
      401,
      'device_key_missing',
      'key, id, size, type',
      'POST',
      () => `/devices/${unknown}/events`,
      () => ({ body: large, headers: foreign }),
    ],
    [
      401,
      'device_key_mismatch',
      'id, size, type',
      'POST',
      () => `/devices/${unknown}/events`,
      as(() => tv.apiKey, { body: large, headers: foreign }),
    ],
    [
      413,
      'body_too_large',
      'size, type',
      'POST',
      () => `/devices/${tv.screenId}/events`,
      as(() => tv.apiKey, { body: large, headers: foreign }),
    ],
    [
      415,
      'unsupported_media_type',
      'type, JSON',
      'POST',
      () => `/devices/${tv.screenId}/events`,
      as(() => tv.apiKey, { body: '[', headers: foreign }),
    ],
    [
      400,
      'invalid_json',
      'JSON, key',
      'POST',
      () => `/devices/${tv.screenId}/events`,
      as(() => tv.apiKey, { body: '[', headers: { 'idempotency-key': '' } }),
    ],
    [
      400,
      'invalid_json',
      'no body, another type',
      'POST',
      () => `/devices/${tv.screenId}/events`,
      as(() => tv.apiKey, { headers: foreign }),
    ],
  ],
  management: [
    [
      404,
      'not_found',
      'path, credential, size',
      'POST',
      () => '/v1/screen',
      () => ({ body: large }),
    ],
    [
      405,
      'method_not_allowed',
      'method, credential, size',
      'POST',
      () => `/v1/screens/${unknown}/playlist`,
      () => ({ body: large }),
    ],
    [
      401,
      'credential_missing',
      'credential, size, type',
      'PATCH',
      () => `/v1/screens/${unknown}`,
      () => ({ body: large, headers: foreign }),
    ],
    [
      401,
      'credential_invalid',
      'credential, size, type',
      'PATCH',
      () => `/v1/screens/${unknown}`,
      as(() => tv.apiKey, { body: large, headers: foreign }),
    ],
    [
      403,
      'insufficient_role',
      'role, size, type, record',
      'PATCH',
      () => `/v1/screens/${unknown}`,
      as(() => viewer, { body: large, headers: foreign }),
    ],
  ],
};

const screenPath = () => `/v1/screens/${unknown}`;
const goodPath = () => `/v1/screens/${tv.screenId}`;
const managed: Row[] = [
  [
    413,
    'body_too_large',
    'size, type, record',
    'PATCH',
    screenPath,
    () => ({ body: large, headers: foreign }),
  ],
  [
    415,
    'unsupported_media_type',
    'type, JSON, record',
    'PATCH',
    screenPath,
    () => ({ body: '{', headers: foreign }),
  ],
  [400, 'invalid_json', 'JSON, record', 'PATCH', screenPath, () => ({ body: '{' })],
  [400, 'invalid_json', 'no body, record', 'PATCH', screenPath, () => ({})],
  [404, 'screen_not_found', 'record, body', 'PATCH', screenPath, () => ({ body: { nme: 1 } })],
  [404, 'screen_not_found', 'record, query', 'DELETE', () => `${screenPath()}?force=x`, () => ({})],
  [
    404,
    'screen_not_found',
    'a malformed id, body',
    'PATCH',
    () => '/v1/screens/x',
    () => ({ body: { nme: 1 } }),
  ],
  [400, 'invalid_request', 'body', 'PATCH', goodPath, () => ({ body: { nme: 1 } })],
  [
    400,
    'invalid_request',
    'query, state',
    'DELETE',
    () => `${goodPath()}?force=perhaps`,
    () => ({}),
  ],
  [409, 'screen_active', 'state', 'DELETE', goodPath, () => ({})],
  [
    404,
    'pairing_code_not_found',
    'record, query',
    'GET',
    () => '/v1/devices/provisioning-codes/ABCDEFGH/status?waitSeconds=0',
    () => ({}),
  ],
  [
    404,
    'device_not_found',
    'record, body',
    'POST',
    () => `/v1/devices/${unknown}/revoke`,
    () => ({ body: { reason: 1 } }),
  ],
  [
    400,
    'invalid_request',
    'body, state',
    'POST',
    () => '/v1/devices/provisioning-codes',
    () => ({ body: { screenId: 'x' } }),
  ],
  [
    404,
    'screen_not_found',
    'state',
    'POST',
    () => '/v1/devices/provisioning-codes',
    () => ({ body: { screenId: unknown } }),
  ],
  [
    409,
    'screen_already_bound',
    'state',
    'POST',
    () => '/v1/devices/provisioning-codes',
    () => ({ body: { screenId: tv.screenId } }),
  ],
];

describe('the order of checks', () => {
  describe.each(Object.keys(rows))('%s', (family) => {
    it.each(rows[family] ?? [])(
      '%i %s with wrong: %s',
      async (status, code, _, method, path, sent) => {
        expectProblem(await service.send(method, path(), sent()), status, code);
      },
    );
  });
  describe('management, with a valid token', () => {
    it.each(managed)('%i %s with wrong: %s', async (status, code, _, method, path, sent) => {
      const { body, ...more } = sent();
      expectProblem(await service.manage(method, path(), body, more), status, code);
    });
  });
});
