// Text that a terminal would obey, in every field of every record, from a service that means no good.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StubService } from '../support/stub-service.ts';
import { stubService } from '../support/stub-service.ts';
import { type CliOptions, runCli } from './run-cli.ts';

/** Escape sequences (of 7 and 8 bits), a title, line breaks of all kinds, and marks that turn the direction of text. */
const hostile =
  'x\u001b[2J\u001b]0;owned\u0007\u009b31m\r\nnext\u2028line\u2029para\u0085\u0000\b\u007f\u202eevil\u2066\u2069\u200f\u061c\ufeff"\',=<b>';
/** What must not come out, line breaks of ours apart. */
const obeyed = /[^\P{Cc}\r\n]|[\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

const id = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';
const labels = { [hostile]: hostile };
const screen = {
  ...{ id, tenantId: hostile, venueId: hostile, name: hostile, labels, state: hostile, deviceId: hostile },
  ...{ provisioningCode: { status: hostile, createdAt: hostile, expiresAt: hostile }, createdAt: hostile, updatedAt: hostile },
};
const infoNames = ['manufacturer', 'model', 'osVersion', 'appVersion', 'macAddress', 'ipAddress', 'deviceName', 'locationHint'];
const device = {
  ...{ id: hostile, screenId: hostile, state: hostile, deviceInfo: Object.fromEntries(infoNames.map((name) => [name, hostile])) },
  ...{ createdAt: hostile, lastSeenAt: hostile, lastAddress: hostile, lastPlaylistAt: hostile, lastPlaylistVersion: 1 },
  ...{ lastPlaylistStatus: 200, lastConfigAt: hostile, lastEventAt: hostile, online: true, suspendedAt: hostile, suspendReason: hostile },
};
const code = {
  ...{ code: hostile, screenId: hostile, status: hostile, createdAt: hostile, expiresAt: hostile, expiresInSeconds: 1 },
  ...{ usedAt: hostile, deviceId: hostile },
};
const tenant = { id: hostile, name: hostile, createdAt: hostile, updatedAt: hostile };
const token = { id: hostile, tenantId: hostile, name: hostile, role: hostile, createdAt: hostile, lastUsedAt: hostile, token: hostile };
const venue = { ...tenant, tenantId: hostile, address: hostile, timezone: hostile, labels };
const entry = {
  ...{ id: hostile, at: hostile, actor: { kind: hostile, id: hostile, name: hostile }, action: hostile },
  ...{ subject: { kind: hostile, id: hostile }, address: hostile, requestId: hostile, details: { [hostile]: hostile } },
};
const me = { tokenId: hostile, name: hostile, role: hostile, tenantId: hostile, tenantName: hostile };

/** By how the path begins; the first that fits. A path that names a record answers it, else a page of it. */
const records: [string, unknown][] = [
  ['/v1/devices/provisioning-codes', code],
  ['/v1/devices', device],
  ['/v1/screens', screen],
  ['/v1/venues', venue],
  ['/v1/tenants', tenant],
  ['/v1/tokens', token],
  ['/v1/audit', entry],
  ['/v1/me', me],
];

function answerTo(method: string, url: string): unknown {
  const path = url.split('?', 1)[0] ?? '';
  if (path.endsWith('/revoke')) return { device, screen };
  const [start, record] = records.find(([prefix]) => path.startsWith(prefix)) ?? ['', {}];
  const isList = method === 'GET' && path === start && start !== '/v1/me';
  return isList ? { items: [record], nextCursor: null } : record;
}

let stub: StubService;
/** When set, every change is refused with it. */
let refusal: unknown;
beforeAll(async () => {
  stub = await stubService((response, { method, url }) => {
    const refused = refusal !== undefined && method !== 'GET';
    const body = JSON.stringify(refused ? refusal : answerTo(method, url));
    if (method === 'DELETE' && !refused) response.writeHead(204).end();
    else response.writeHead(refused ? 409 : 200, { 'content-type': refused ? 'application/problem+json' : 'application/json' }).end(body);
  });
});
afterAll(() => stub.close());

const run = (argv: readonly string[], options: CliOptions = {}) =>
  runCli(argv, { ...options, env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' } });

const shown: readonly (readonly string[])[] = [
  ['screen', 'list'],
  ['screen', 'get', id],
  ['screen', 'create', '--venue', 'V', '--name', 'N'],
  ['screen', 'update', id, '--name', 'N'],
  ['screen', 'update', '--selector', 'a=b', '--label', 'c=d'],
  ['screen', 'delete', '--selector', 'a=b', '--yes'],
  ['device', 'list'],
  ['device', 'list', '--screen', id],
  ['device', 'get', id],
  ['device', 'revoke', id, '--yes'],
  ['device', 'revoke', '--selector', 'a=b', '--yes'],
  ['code', 'create', id],
  ['code', 'status', 'ABCD2345'],
  ['tenant', 'list'],
  ['tenant', 'get', id],
  ['tenant', 'create', '--name', 'N'],
  ['tenant', 'update', id, '--name', 'N'],
  ['token', 'list'],
  ['token', 'get', id],
  ['token', 'create', '--name', 'N', '--role', 'viewer'],
  ['audit', 'list'],
  ['api', 'GET', '/v1/screens'],
  ['api', 'GET', '/v1/audit', '--paginate'],
];
const forms = ['table', 'wide', 'json', 'ndjson', 'yaml', 'csv', 'name'];

describe.each(shown.map((argv) => [argv.join(' '), argv] as const))('signage %s', (_, argv) => {
  it.each(forms)('-o %s shows hostile text escaped', async (form) => {
    const { code, stdout, stderr } = await run([...argv, '-o', form, '--verbose']);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toBe('');
    expect(stdout).not.toMatch(obeyed);
    expect(stderr).not.toMatch(obeyed);
    if (form !== 'csv') expect(stdout).not.toContain('\r');
    if (form !== 'csv' && form !== 'yaml') expect(stdout).not.toMatch(/\nnext/);
  });
});

it('JSON keeps the text, however it is escaped', async () => {
  expect(hostile).toMatch(obeyed);
  const { json } = await run(['tenant', 'get', id, '-o', 'json']);
  expect(json).toEqual(tenant);
});

it('a list is a line for each record, whatever is in it', async () => {
  for (const noun of ['screen', 'device', 'tenant', 'token', 'audit']) {
    expect((await run([noun, 'list', '-o', 'ndjson'])).ndjson).toHaveLength(1);
    expect((await run([noun, 'list', '-o', 'name'])).stdout.split('\n')).toHaveLength(2);
    expect((await run([noun, 'list'])).stdout.split('\n')).toHaveLength(3);
  }
});

it('-o name falls back to the id where the name cannot be typed', async () => {
  expect((await run(['screen', 'get', id, '-o', 'name'])).stdout).toBe(`${id}\n`);
});

describe('beside the results', () => {
  const deletions = [
    ['screen', 'delete', id],
    ['tenant', 'delete', id],
    ['token', 'delete', id],
    ['device', 'revoke', id],
  ];

  it.each(deletions)('signage %s %s: notes and questions are escaped', async (...argv) => {
    const { code, stderr } = await run([...argv, '--yes']);
    expect(code).toBe(0);
    expect(stderr).not.toMatch(obeyed);
    const off = await run(argv);
    expect(off.code).toBe(2);
    expect(off.stderr).not.toMatch(obeyed);
    const asked = await run(argv, { tty: true, keys: [[/\?/, 'n\r']] });
    expect(asked.code).toBe(5);
    for (const bit of ['\u001b[2J', '\u001b]0;', '\u009b', '\u202e', '\u2066', '\u2028', '\u0007', '\ufeff', '\r\nnext']) {
      expect(asked.stderr, JSON.stringify(bit)).not.toContain(bit);
    }
  });

  it.each(['table', 'json'])('errors are escaped, -o %s', async (form) => {
    refusal = {
      type: hostile,
      title: hostile,
      status: 409,
      detail: hostile,
      code: 'screen_active',
      requestId: hostile,
      existingId: hostile,
    };
    for (const argv of deletions) {
      const { code, stdout, stderr } = await run([...argv, '--yes', '-o', form]);
      expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
      expect(stderr).not.toMatch(obeyed);
    }
    const some = await run(['screen', 'delete', '--selector', 'a=b', '--yes', '-o', form]);
    expect(some.code).toBe(9);
    expect(some.stdout).not.toMatch(obeyed);
    refusal = undefined;
  });
});
