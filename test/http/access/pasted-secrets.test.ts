// Secrets that a caller puts where none belongs: they reach no log, audit trail or request log.
import { inspect } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
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
