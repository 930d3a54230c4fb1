// Secrets that a caller puts where none belongs: they reach no log, audit trail or request log.
import { inspect } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { hashKey, makeKey, maskSecrets } from '../../../src/domain/api-key.ts';
import { systemRandom } from '../../../src/domain/clock.ts';
import type { LogSink } from '../../../src/domain/log.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const secrets = (['dak_', 'mak_', 'clm_'] as const).map((prefix) => makeKey(prefix, systemRandom));
const lines: string[] = [];
const say = (fields: object, message: string) =>
  void lines.push(`${message} ${inspect(fields, { depth: 12, showHidden: true })}`);
const log: LogSink = { debug: say, info: say, warn: say, error: say };

let service: TestService;
beforeAll(async () => {
  service = await startService({ log });
});

const expectNone = (text: string) => {
  for (const secret of secrets) expect(text).not.toContain(secret.slice(4));
};

it.each([0, 1, 2])('an X-Request-Id of the shape of secret %i is replaced', async (at) => {
  const id = secrets[at]!.slice(0, 40);
  for (const path of ['/v1/me', '/devices/none/playlist', '/nowhere']) {
    const { headers } = await service.send('GET', path, { headers: { 'X-Request-Id': id } });
    expect(headers.get('x-request-id')).not.toBe(id);
  }
  expect(lines.join('\n')).not.toContain(id);
});

it('the name of a query parameter is masked in answer, log and request log', async () => {
  for (const secret of secrets) {
    const { status, text } = await service.manage('GET', `/v1/venues?${secret}=1`);
    expect(status).toBe(400);
    expect(text).toContain(`query.${secret.slice(0, 4)}…`);
    expectNone(text);
  }
  expectNone(lines.join('\n'));
  expectNone((await service.manage('GET', '/v1/requests?limit=200')).text);
});

describe('a pairing code or a claim', () => {
  const codes = ['ABCD2345', 'WXYZWXYZ', 'ABCD-2345', 'K7Q2MX', 'SCREEN', 'K7Q-2MX', 'tv.ABCD2345'];
  const code = (text: string) => text.replace('tv.', '');

  it.each(codes)('%s as X-Request-Id is replaced', async (id) => {
    const name = 'X-Request-Id';
    for (const path of ['/v1/me', '/devices/none/playlist', '/nowhere']) {
      const { headers } = await service.send('GET', path, { headers: { [name]: id } });
      expect(headers.get(name)).not.toContain(code(id));
    }
    expect(lines.join('\n')).not.toContain(code(id));
  });

  it.each(codes)('%s as a name is masked in answer and log', async (name) => {
    const answers = [
      await service.manage('GET', `/v1/venues?${name}=1`),
      await service.manage('POST', '/v1/venues', { name: 'Shop', [name]: 1 }),
      await service.manage('POST', '/v1/venues', { name: 'Shop', labels: { [name]: 1 } }),
    ];
    for (const { status, text } of answers) {
      expect(status).toBe(400);
      expect(text).not.toContain(code(name));
    }
    expect(lines.join('\n')).not.toContain(code(name));
  });

  it('is masked where the log quotes a name', async () => {
    for (let time = 0; time < 2; time++)
      await service.manage('POST', '/v1/venues', { name: 'TVWXYZ23' });
    expect(lines.join('\n')).toContain('with the name "…" already exists');
    expect(lines.join('\n')).not.toContain('TVWXYZ23');
  });

  it('is no UUID, no other word, and no shorter or longer text', async () => {
    const uuid = 'F92AA5B4-6F22-4C3E-9D2A-5B8F2E2C3D4E';
    const others = ['WEB-SERVER-22', 'ABCD23456', 'ABCD234', 'req-20261129', 'abcd2345'];
    for (const id of [uuid, ...others]) {
      const { headers } = await service.send('GET', '/v1/me', { headers: { 'X-Request-Id': id } });
      expect(headers.get('x-request-id')).toBe(id);
    }
  });
});

it('the reason of a revocation is masked in the audit trail', async () => {
  const tv = await service.tv();
  const reason = `found ${secrets.join(' ')}`;
  expect(
    (await service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`, { reason })).status,
  ).toBe(200);
  const { text, body } = await service.manage('GET', '/v1/audit?action=device.revoke');
  expect(body.items[0].details.reason).toBe('found dak_… mak_… clm_…');
  expectNone(text);
});

it('an error of a library is masked in the log', async () => {
  const failing = await startService({
    log,
    onDemand: () => Promise.reject(new Error(`cannot reach http://x/?key=${secrets[1]}`)),
  });
  const tv = await failing.tv();
  await tv.send('GET', 'playlist');
  await failing.close();
  expect(lines.join('\n')).toContain('cannot reach http://x/?key=mak_…');
  expectNone(lines.join('\n'));
});

it('a hash or an ordinary word is not masked', () => {
  for (const text of [hashKey('x'), 'mak_short', 'remake_0123456789abcdefghij'])
    expect(maskSecrets(text)).toBe(text);
});
