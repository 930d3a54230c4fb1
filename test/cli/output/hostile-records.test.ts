// Escape sequences in every field of every record, from a hostile service.
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  hostile,
  hostileService,
  hostileId as id,
  obeyed,
  hostileTenant as tenant,
} from '../../support/network/hostile-service.ts';
import { json, stubService } from '../../support/network/stub-service.ts';
import { type CliOptions, runCli } from '../run-cli.ts';

let stub: Awaited<ReturnType<typeof hostileService>>;
beforeAll(async () => {
  stub = await hostileService();
});

const run = (argv: readonly string[], options: CliOptions = {}) =>
  runCli(argv, { ...options, env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' } });

const shown: readonly (readonly string[])[] = [
  ['screen', 'list'],
  ['screen', 'get', id],
  ['screen', 'create', 'V/N'],
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
/** All forms are the same for all commands, so one list and one record show each of them. */
const formsOf = ([noun, verb]: readonly string[]) =>
  noun === 'screen' && (verb === 'list' || verb === 'get')
    ? ['table', 'wide', 'json', 'ndjson', 'yaml', 'csv', 'name']
    : ['table', 'json'];

describe.each(shown.map((argv) => [argv.join(' '), argv] as const))('signage %s', (_, argv) => {
  it.each(formsOf(argv))('-o %s shows hostile text escaped', async (form) => {
    const { code, stdout, stderr } = await run([...argv, '-o', form, '--verbose']);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toBe('');
    expect(stdout).not.toMatch(obeyed);
    expect(stderr).not.toMatch(obeyed);
    if (form !== 'csv') expect(stdout).not.toContain('\r');
    if (form !== 'csv' && form !== 'yaml') expect(stdout).not.toMatch(/\nnext/);
  });
});

it('JSON and YAML keep hostile text, escaped', async () => {
  expect(hostile).toMatch(obeyed);
  const { json } = await run(['tenant', 'get', id, '-o', 'json']);
  expect(json).toEqual(tenant);
  expect(parse((await run(['tenant', 'get', id, '-o', 'yaml'])).stdout)).toEqual(tenant);
});

it.each([
  ['--fields', 'name,labels'],
  ['--jq', '.[] | .name, .labels'],
])('%s shows hostile text escaped', async (...argv) => {
  const { code, stdout } = await run(['screen', 'list', ...argv]);
  expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 2]);
  expect(stdout).not.toMatch(obeyed);
});

it('a list has one line per record, whatever its content', async () => {
  for (const noun of ['screen', 'device', 'tenant', 'token', 'audit']) {
    expect((await run([noun, 'list', '-o', 'ndjson'])).ndjson).toHaveLength(1);
    expect((await run([noun, 'list', '-o', 'name'])).stdout.split('\n')).toHaveLength(2);
    expect((await run([noun, 'list'])).stdout.split('\n')).toHaveLength(3);
  }
});

describe('notes and errors', () => {
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
    for (const bit of [
      '\u001b[2J',
      '\u001b]0;',
      '\u009b',
      '\u202e',
      '\u2066',
      '\u2028',
      '\u0007',
      '\ufeff',
      '\r\nnext',
    ]) {
      expect(asked.stderr, JSON.stringify(bit)).not.toContain(bit);
    }
  });

  it.each(['table', 'json'])('errors are escaped, -o %s', async (form) => {
    stub.refusal = {
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
    stub.refusal = undefined;
  });
});

describe('a text that no view escapes', () => {
  const schedule = {
    ...tenant,
    entries: [{ name: 'A', days: ['mon', hostile], from: '08:00', to: '18:00', items: [] }],
    version: 1,
  };
  const place = { ...tenant, id, venueId: id, timezone: 'Europe/Berlin' };

  it.each([true, false])('is escaped when it is written, at a terminal: %s', async (tty) => {
    const stub = await stubService((response, { url }) =>
      json(200, url.endsWith('/schedule') ? schedule : place)(response, undefined as never),
    );
    const { stdout, stderr } = await runCli(['schedule', 'preview', id], {
      tty,
      env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x', NO_COLOR: '1' },
    });
    expect(stdout + stderr).toContain('\\u001b[2J');
    expect(stdout + stderr).not.toMatch(obeyed);
  });
});
