import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { LogSink } from '../../src/domain/log.ts';
import { nodeFileSystem } from '../../src/store/json/file-system.ts';
import { openStore } from '../../src/store/open.ts';
import { impression, item } from '../support/content.ts';
import { heldDisk } from '../support/held-disk.ts';
import { mounted } from '../support/mounted.ts';
import { type Answer, adminToken, startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Everything that was said to a log, with all that hangs on it. */
function capturingLog() {
  const lines: string[] = [];
  const say = (fields: object, message: string) => void lines.push(`${message} ${inspect(fields, { depth: 12, showHidden: true })}`);
  const log: LogSink = { debug: say, info: say, warn: say, error: say };
  return { log, lines };
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}

const idempotencyKey = 'canary-idempotency-4f9d1c';
const lostKey = 'canary-idempotency-lost-77';
const rotationKey = 'canary-idempotency-rotation-5';
const answers: Answer[] = [];
const { log, lines } = capturingLog();
/** What must be found nowhere, by what it is. */
const canaries: Record<string, string> = {
  'the admin token': adminToken,
  'the Idempotency-Key': idempotencyKey,
  'a lost Idempotency-Key': lostKey,
  'the Idempotency-Key of a rotation': rotationKey,
};
let folder: string;
let metrics: string;
let audit: string;

/** Everything that the service is for, and everything that goes wrong, with secrets in every place where a caller may put one. */
beforeAll(async () => {
  folder = await temporaryFolder();
  const service = await startService({ store: folder, log });
  const seen = async (answer: Promise<Answer>) => {
    answers.push(await answer);
    return answer;
  };
  const idempotency = { headers: { 'idempotency-key': idempotencyKey } };

  const { code, screenId } = await service.code();
  const unused = await service.code(screenId);
  canaries['a pairing code that is used'] = code;
  const { body } = await service.register(code, idempotency);
  canaries['the apiKey'] = body.apiKey;
  canaries['the apiKey’s digits'] = body.apiKey.slice(4);
  canaries['a pairing code that is cancelled'] = unused.code;
  const pending = await service.code();
  canaries['a pairing code that is pending'] = pending.code;
  canaries['an operator’s token'] = await service.token('operator');
  const cancelled = await service.code();
  canaries['a pairing code that was deleted'] = cancelled.code;
  await service.manage('DELETE', `/v1/devices/provisioning-codes/${cancelled.code}`);
  const plain = await service.tv();
  canaries['an apiKey that was not derived'] = plain.apiKey;

  const rotation = { key: plain.apiKey, headers: { 'idempotency-key': rotationKey } };
  const rotated = await service.send('POST', `/devices/${plain.screenId}/keys/rotate`, rotation);
  canaries['an apiKey that took the place of another'] = rotated.body.apiKey;
  await seen(service.send('GET', `/devices/${plain.screenId}/config`, { key: rotated.body.apiKey }));
  await seen(service.send('POST', `/devices/${plain.screenId}/keys/rotate`, rotation));

  const key = body.apiKey;
  const secrets = Object.values(canaries);
  await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items: [item()] });
  await service.manage('PUT', `/v1/screens/${screenId}/config`, { syncIntervalMinutes: 7 });
  await service.register(code, idempotency);
  await seen(service.send('GET', `/devices/${screenId}/playlist`, { key }));
  await seen(service.send('GET', `/devices/${screenId}/config`, { key }));
  await seen(service.send('POST', `/devices/${screenId}/events`, { key, body: [impression()], headers: { 'idempotency-key': lostKey } }));
  await seen(service.send('POST', `/devices/${screenId}/events`, { key, body: [impression()], headers: { 'idempotency-key': lostKey } }));
  await seen(service.register(code));
  await seen(service.register(code, { headers: { 'idempotency-key': `${idempotencyKey}-2` } }));
  await seen(service.register(unused.code, idempotency));
  for (const secret of secrets) {
    await seen(service.send('GET', `/devices/${secret}/playlist`, { key }));
    await seen(service.send('GET', `/devices/${screenId}/playlist`, { key: `${secret}x` }));
    await seen(service.send('GET', `/v1/screens/${secret}`, { key: secret }));
    await seen(service.send('GET', `/${secret}`, { key: secret }));
    await seen(service.send('PATCH', `/devices/${secret}/playlist`));
    await seen(service.manage('GET', `/v1/devices/provisioning-codes/${secret}/x`));
    await seen(service.manage('PUT', `/v1/devices/provisioning-codes/${secret}/status`));
    await seen(service.manage('GET', `/v1/screens/${secret}`));
    await seen(service.manage('POST', `/v1/devices/${secret}/revoke`));
    await seen(service.register(secret.toLowerCase()));
    await seen(service.send('POST', '/devices/register', { body: `{"pairingCode":"${secret}" "apiKey"` }));
    await seen(service.send('POST', '/devices/register', { body: { pairingCode: pending.code, deviceInfo: 7, apiKey: secret } }));
    await seen(service.send('POST', '/devices/register', { body: secret, headers: { 'content-type': secret } }));
    await seen(service.send('POST', `/devices/${screenId}/events`, { key, body: `["${secret}` }));
    await seen(service.send('POST', '/devices/register', { body: {}, headers: { 'idempotency-key': secret } }));
    await seen(service.send('GET', '/v1/screens', { headers: { authorization: `Basic ${secret}`, 'x-tenant-id': secret } }));
    await seen(service.manage('GET', '/v1/screens', undefined, { headers: { 'x-tenant-id': secret } }));
    await seen(service.send('GET', '/metrics', { key: secret, headers: { 'x-forwarded-for': '203.0.113.7' } }));
  }
  for (let n = 0; n < 12; n++) await seen(service.register(`0000000${n % 10}`));
  // A source that a token vouches for goes on, for the codes of its tenant.
  canaries['an apiKey that was given last'] = (await service.register(pending.code)).body.apiKey;
  await service.manage('POST', `/v1/devices/${body.deviceId}/revoke`, { reason: 'done' });
  await seen(service.send('GET', `/devices/${screenId}/playlist`, { key }));
  metrics = (await service.send('GET', '/metrics')).text;
  audit = (await service.manage('GET', '/v1/audit?limit=200')).text;
  await service.restart();
  await service.close();
});

/** Which canaries a text holds, in any case. */
const found = (text: string) => Object.keys(canaries).filter((name) => text.toLowerCase().includes(canaries[name]!.toLowerCase()));

describe('secrets', () => {
  it('the scenario went where it should', () => {
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 202, 400, 401, 404, 405, 409, 410, 415, 429]));
    expect(lines.length).toBeGreaterThan(100);
    expect(audit).toContain('device.register');
    expect(metrics).toContain('signage_http_requests_total');
    expect(found(`x${canaries['the apiKey']}x`)).toContain('the apiKey');
  });

  it('stand in no answer but the one that gives them', () => {
    for (const { text, headers } of answers) expect(found(`${text} ${[...headers].join(' ')}`), text).toEqual([]);
  });

  it('stand in no line of the log', () => {
    for (const line of lines) expect(found(line), line).toEqual([]);
  });

  it('stand neither in the audit trail nor in the metrics', () => {
    expect(found(audit)).toEqual([]);
    expect(found(metrics)).toEqual([]);
  });

  it('stand in no file of the store, in no encoding', async () => {
    const files = await filesOf(folder);
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) {
      const bytes = await readFile(file);
      expect(found(bytes.toString('latin1')), file).toEqual([]);
      for (const [name, secret] of Object.entries(canaries)) {
        for (const encoding of ['base64', 'hex', 'utf16le'] as const) {
          const encoded =
            encoding === 'utf16le' ? Buffer.from(secret, encoding) : Buffer.from(Buffer.from(secret).toString(encoding).replace(/=+$/, ''));
          expect(bytes.includes(encoded), `${name} as ${encoding} in ${file}`).toBe(false);
        }
      }
    }
  });

  it('the server secret stands in its own file alone', async () => {
    const secret = (await readFile(join(folder, 'secret'), 'utf8')).trim();
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    for (const file of await filesOf(folder)) {
      if (file !== join(folder, 'secret')) expect((await readFile(file, 'latin1')).includes(secret), file).toBe(false);
    }
    expect(lines.join('\n')).not.toContain(secret);
  });

  it('files are readable by their owner alone', async () => {
    for (const file of await filesOf(folder)) expect((await stat(file)).mode & 0o777, file).toBe(0o600);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((one) => one.isDirectory())) {
      expect((await stat(join(entry.parentPath, entry.name))).mode & 0o077, entry.name).toBe(0);
    }
  });

  it('stand in no line of the log when the service itself fails', async () => {
    const failure = capturingLog();
    const disk = heldDisk(nodeFileSystem);
    const store = await openStore(await temporaryFolder(), {
      disk,
      onWarning: (message, cause) => failure.log.warn({ err: cause }, message),
    });
    const origins = [{ name: 'store' as const, fetch: () => Promise.reject(new Error('planted')) }];
    const service = await mounted({ store, log: failure.log, origins });
    const tv = await service.tv();
    const { code } = await service.code();
    const key = 'canary-of-the-bad-disk-1';
    const said = [await service.send('GET', `/devices/${tv.screenId}/playlist`, { key: tv.apiKey })];
    disk.failing = true;
    said.push(
      await service.send('POST', '/devices/register', { body: { pairingCode: code, deviceInfo: {} }, headers: { 'idempotency-key': key } }),
    );
    said.push(
      await service.send('POST', `/devices/${tv.screenId}/events`, {
        key: tv.apiKey,
        body: [impression()],
        headers: { 'idempotency-key': key },
      }),
    );
    expect(said.map(({ status }) => status)).toEqual([500, 503, 503]);
    const text = [...failure.lines, ...said.map((answer) => answer.text)].join('\n');
    expect(text).toContain('planted');
    for (const secret of [tv.apiKey, code, key, adminToken]) expect(text).not.toContain(secret);
    disk.failing = false;
    await store.close();
  });
});
