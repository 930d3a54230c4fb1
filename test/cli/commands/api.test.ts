// signage api.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { json, raw, stubService } from '../../support/network/stub-service.ts';
import type { TestService } from '../../support/service/service.ts';
import { type Cli, runCli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
beforeAll(async () => {
  ({ cli, service } = await startCli());
});

async function stubbed(args: string[], ...answers: Parameters<typeof stubService>) {
  const stub = await stubService(...answers);
  const run = await runCli(['api', ...args], {
    env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' },
  });
  return { run, heard: stub.heard };
}

describe('signage api', () => {
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

  it('2 for a path with a line break, which could add a header', async () => {
    const run = await cli(['api', 'GET', '/v1/me\r\nX-Other: 1']);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('percent-encoded');
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
      (await cli('api GET "/v1/venues?search=page" --paginate -o table --fields name')).stdout,
    ).toBe('NAME\nPage 0\nPage 1\nPage 2\nPage 3\nPage 4\n');
  });

  it('7 for a list that never ends', async () => {
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
