// signage api.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TestService } from '../../support/service.ts';
import { json, raw, stubService } from '../../support/stub-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Cli, runCli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let as: (role: string) => Promise<Cli>;
beforeAll(async () => {
  ({ cli, service, as } = await startCli());
});

const venueNames = async () =>
  (await service.manage('GET', '/v1/venues?limit=200')).body.items.map(
    ({ name }: { name: string }) => name,
  );

async function stubbed(args: string[], ...answers: Parameters<typeof stubService>) {
  const stub = await stubService(...answers);
  const run = await runCli(['api', ...args], {
    env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' },
  });
  await stub.close();
  return { run, heard: stub.heard };
}

describe('signage api', () => {
  it('prints the answer as JSON; accepts methods in any case and paths without a leading slash', async () => {
    const me = (await service.manage('GET', '/v1/me')).body;
    for (const [method, path] of [
      ['GET', '/v1/me'],
      ['get', 'v1/me'],
    ] as const) {
      expect(await cli(['api', method, path])).toMatchObject({ code: 0, json: me, stderr: '' });
    }
    expect((await cli(['api', 'GET', '/v1/me', '--jq', '.role'])).stdout).toBe('platform\n');
    expect((await cli(['api', 'GET', '/openapi.json', '--jq', '.openapi'])).stdout).toMatch(
      /^3\.1/,
    );
  });

  it('-f sends a body from a file or stdin, JSON or YAML; an empty answer prints nothing', async () => {
    const file = join(await temporaryFolder(), 'venue.yaml');
    await writeFile(file, 'name: From YAML\nlabels: { floor: "2" }\n');
    expect((await cli(['api', 'POST', '/v1/venues', '-f', file])).json).toMatchObject({
      name: 'From YAML',
      labels: { floor: '2' },
    });
    const { json: made } = await cli(['api', 'POST', '/v1/venues', '-f', '-'], {
      stdin: '{"name": "Piped"}',
    });
    expect(made.name).toBe('Piped');
    expect(
      (
        await cli(['api', 'PATCH', `/v1/venues/${made.id}`, '-f', '-'], {
          stdin: '{"name": "Renamed"}',
        })
      ).json.name,
    ).toBe('Renamed');
    expect(await cli(['api', 'DELETE', `/v1/venues/${made.id}`])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect(await venueNames()).not.toContain('Renamed');
  });

  it('changes nothing under --dry-run, but reads', async () => {
    const run = await cli(['api', 'POST', '/v1/venues', '-f', '-', '--dry-run', '-o', 'json'], {
      stdin: '{"name": "Dry"}',
    });
    expect(run.json).toEqual([{ method: 'POST', path: '/v1/venues', body: { name: 'Dry' } }]);
    expect(await venueNames()).not.toContain('Dry');
    expect((await cli(['api', 'GET', '/v1/me', '--dry-run'])).json).toMatchObject({
      role: 'platform',
    });
  });

  it('acts in the tenant of --tenant', async () => {
    const { json: tenant } = await cli(['tenant', 'create', '--name', 'Other', '-o', 'json']);
    expect((await cli(['api', 'GET', '/v1/me', '--tenant', 'Other'])).json).toMatchObject({
      tenantId: tenant.id,
    });
    expect((await cli(['tenant', 'delete', 'Other', '--yes'])).code).toBe(0);
  });

  it('-i shows status and headers on stderr; stdout stays JSON', async () => {
    const run = await cli(['api', 'GET', '/v1/me', '-i']);
    expect(run.json).toMatchObject({ role: 'platform' });
    expect(run.stderr).toMatch(/^HTTP 200\n/);
    expect(run.stderr).toMatch(/\ncontent-type: application\/json/);
    expect(run.stderr).toMatch(/\nx-request-id: \S/);
  });

  it('-i masks pairing codes in headers', async () => {
    const { id } = await service.screen();
    const run = await cli(
      ['api', 'POST', '/v1/devices/provisioning-codes', '-f', '-', '-i', '--verbose'],
      {
        stdin: JSON.stringify({ screenId: id }),
      },
    );
    expect(run.stderr).toMatch(/location: \/v1\/devices\/provisioning-codes\/…\/status/);
    expect(run.stderr).not.toContain(run.json.code);
  });

  it('exits with 3, 4, 5 and 6 like all commands; -o json adds the problem document', async () => {
    await service.venue({ name: 'There' });
    expect((await cli(['api', 'GET', '/v1/nothing'])).code).toBe(3);
    expect(
      (
        await (
          await as('viewer')
        )(['api', 'POST', '/v1/venues', '-f', '-'], { stdin: '{"name":"x"}' })
      ).code,
    ).toBe(4);
    expect(
      (await cli(['api', 'POST', '/v1/venues', '-f', '-'], { stdin: '{"name":"there"}' })).code,
    ).toBe(5);
    const invalid = await cli(['api', 'POST', '/v1/venues', '-f', '-', '-o', 'json'], {
      stdin: '{"nam":"x"}',
    });
    expect(invalid).toMatchObject({ code: 6, stdout: '' });
    expect(JSON.parse(invalid.stderr)).toMatchObject({ status: 400, code: 'invalid_request' });
    expect((await cli(['api', 'POST', '/v1/venues', '-f', '-'], { stdin: '{"name"' })).code).toBe(
      6,
    );
  });

  it.each([
    [['HEAD', '/v1/me'], 'GET, POST'],
    [['GET'], 'path'],
    [['GET', 'https://elsewhere.example/v1/me'], '--url'],
    [['GET', '/v1/venues?search=a b'], '%20'],
    [['GET', '/v1/venues#top'], 'percent-encoded'],
    [['GET', '/v1/venues?search=ü'], 'percent-encoded'],
    [['GET', '/v1/me\r\nX-Other: 1'], 'percent-encoded'],
    [['GET', '/v1/venues', '-f', '-'], 'no body'],
    [['POST', '/v1/venues', '--paginate'], 'GET'],
    [['POST', '/v1/venues', '-f', '/nowhere/file'], 'No such file: /nowhere/file.'],
  ])('2 for %j', async (args, says) => {
    const run = await cli(['api', ...args], { stdin: '{}' });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(says);
  });

  it.each(['//elsewhere.example/v1/me', '@elsewhere.example/', '.elsewhere.example/', ':1/'])(
    '%s is sent to the configured service only',
    async (path) => {
      const { heard } = await stubbed(['GET', path], json(200, {}));
      expect(heard.map(({ url }) => url)).toEqual([path.startsWith('/') ? path : `/${path}`]);
    },
  );
});

describe('signage api --paginate', () => {
  it('fetches all pages of a list', async () => {
    for (let at = 0; at < 5; at++) await service.venue({ name: `Page ${at}` });
    const expected = (await service.manage('GET', '/v1/venues?search=page&limit=200')).body.items;
    for (const path of ['/v1/venues?search=page', '/v1/venues?limit=2&search=page']) {
      expect((await cli(['api', 'GET', path, '--paginate'])).json).toEqual(expected);
      expect((await cli(['api', 'GET', path, '--paginate', '-o', 'ndjson'])).ndjson).toEqual(
        expected,
      );
    }
    expect(
      (await cli(['api', 'GET', '/v1/venues?search=page', '--paginate', '-o', 'name'])).stdout,
    ).toBe('Page 0\nPage 1\nPage 2\nPage 3\nPage 4\n');
    expect(
      (
        await cli([
          'api',
          'GET',
          '/v1/venues?search=page',
          '--paginate',
          '-o',
          'table',
          '--fields',
          'name',
        ])
      ).stdout,
    ).toBe('NAME\nPage 0\nPage 1\nPage 2\nPage 3\nPage 4\n');
  });

  it('2 for an answer that is not a list, 7 for a list that never ends', async () => {
    expect((await cli(['api', 'GET', '/v1/me', '--paginate'])).code).toBe(2);
    const { run, heard } = await stubbed(
      ['GET', '/v1/x', '--paginate'],
      json(200, { items: [], nextCursor: 'same' }),
    );
    expect(run.code).toBe(7);
    expect(heard.map(({ url }) => url)).toEqual(['/v1/x?limit=200', '/v1/x?limit=200&cursor=same']);
    const page = (nextCursor: string) => json(200, { items: [1], nextCursor });
    const circle = await stubbed(['GET', '/v1/x', '--paginate'], page('a'), page('b'), page('a'));
    expect([circle.run.code, circle.heard.length]).toEqual([7, 3]);
    const begun = await stubbed(['GET', '/v1/x?cursor=a', '--paginate'], page('a'));
    expect([begun.run.code, begun.heard.length]).toEqual([7, 1]);
    expect(begun.run.stderr).toContain('The pages of this list do not end: a cursor was repeated.');
  });
});

describe('signage api output formats', () => {
  const list = {
    items: [{ id: '1', name: 'One', more: { a: 1 } }, { id: '2', other: true }, 'text'],
    nextCursor: 'c',
  };

  it('prints a list unchanged in json and yaml, and row by row in other formats', async () => {
    expect((await stubbed(['GET', '/x'], json(200, list))).run.json).toEqual(list);
    expect((await stubbed(['GET', '/x', '-o', 'ndjson'], json(200, list))).run.ndjson).toEqual(
      list.items,
    );
    expect((await stubbed(['GET', '/x', '-o', 'name'], json(200, list))).run.stdout).toBe(
      'One\n2\n"text"\n',
    );
    expect((await stubbed(['GET', '/x', '-o', 'csv'], json(200, list))).run.stdout).toBe(
      'id,name,more\r\n1,One,"{""a"":1}"\r\n2,,\r\n,,\r\n',
    );
    expect(
      (await stubbed(['GET', '/x', '-o', 'table'], json(200, { a: 1, b: null }))).run.stdout,
    ).toBe('A  1\nB  -\n');
  });

  it.each([[null], [true], ['text'], [12], [[1, 2]]])('prints the JSON value %j', async (value) => {
    expect((await stubbed(['GET', '/x'], json(200, value))).run).toMatchObject({
      code: 0,
      json: value,
    });
    expect((await stubbed(['GET', '/x', '-o', 'table'], json(200, value))).run.code).toBe(0);
  });

  it('prints other text line by line, escaped; 7 when JSON output was requested', async () => {
    const text = raw(200, 'a\tb\r\n\u001b[2Jc\n', { 'content-type': 'text/plain' });
    expect((await stubbed(['GET', '/x'], text)).run).toMatchObject({
      code: 0,
      stdout: 'a\tb\n\\u001b[2Jc\n',
    });
    expect((await stubbed(['GET', '/x', '-o', 'json'], text)).run).toMatchObject({
      code: 7,
      stdout: '',
    });
    expect((await stubbed(['GET', '/x', '--jq', '.a'], text)).run).toMatchObject({
      code: 7,
      stdout: '',
    });
  });

  it.each(['{"items": [', '', 'null and more'])(
    '7 when the content type is JSON and the body is %j',
    async (text) => {
      const answer = raw(200, text, { 'content-type': 'application/json; charset=utf-8' });
      for (const flags of [[], ['--paginate'], ['-o', 'table']]) {
        const { run } = await stubbed(['GET', '/x', ...flags], answer);
        expect(run).toMatchObject({ code: 7, stdout: '' });
        expect(run.stderr).toMatch(/^signage: The answer is not JSON\.\n/);
      }
    },
  );

  it('escapes hostile text in the result and in the headers of -i', async () => {
    const answer = json(
      200,
      { items: [{ 'na\u001bme': 'a\u001b[2J\u202eb', name: '\u0007\n' }] },
      { 'x-note': 'a\u009bb' },
    );
    for (const form of ['json', 'ndjson', 'yaml', 'csv', 'table', 'name']) {
      const { run } = await stubbed(['GET', '/x', '-i', '-o', form], answer);
      expect(run.code).toBe(0);
      expect(run.stdout + run.stderr, form).not.toMatch(/[^\P{Cc}\r\n]|\u202e/u);
    }
  });
});
