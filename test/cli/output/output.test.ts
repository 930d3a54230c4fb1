import { beforeAll, describe, expect, it } from 'vitest';
import { json, type StubService, stubService } from '../../support/network/stub-service.ts';
import { runCli } from '../run-cli.ts';

const id = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';
const at = '2026-11-20T12:00:00.000Z';
const plain = {
  id,
  tenantId: id,
  name: 'Lobby',
  address: 'Main St 1, "rear"',
  timezone: null,
  hours: null,
  labels: { floor: '2' },
  createdAt: at,
  updatedAt: at,
};

let stub: StubService;
beforeAll(async () => {
  stub = await stubService();
});

const run = (argv: string[], answer: unknown, options = {}) => {
  stub.answers.splice(0, Infinity, json(200, answer));
  return runCli(argv, {
    env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: `mak_${'x'.repeat(30)}` },
    ...options,
  });
};
const list = (items: object[], ...argv: string[]) =>
  run(['venue', 'list', ...argv], { items, nextCursor: null });
const get = (item: object, ...argv: string[]) => run(['venue', 'get', id, ...argv], item);

describe('-o', () => {
  it('csv follows RFC 4180', async () => {
    const { stdout } = await list([plain], '-o', 'csv');
    expect(stdout).toBe(
      `name,address,timezone,labels,hours,id,createdAt,updatedAt\r\nLobby,"Main St 1, ""rear""",,floor=2,,${id},${at},${at}\r\n`,
    );
    expect((await get(plain, '-o', 'csv')).stdout).toBe(stdout);
  });

  it('csv has an apostrophe before text that a spreadsheet would run', async () => {
    const labels = { '=a': '1', delta: '-5' };
    const { stdout } = await list(
      [{ ...plain, name: '=HYPERLINK("http://x")', address: '-5', labels }],
      '-o',
      'csv',
      '--fields',
      'name,address,labels.delta,labels.=a',
    );
    expect(stdout).toBe(
      'name,address,labels.delta,labels.=a\r\n"\'=HYPERLINK(""http://x"")",\'-5,\'-5,1\r\n',
    );
  });

  it.each([
    [['--separator', ';'], 'name;more.n;more.t\r\n"A;B";1.5;1.5\r\n'],
    [['--separator', 'tab'], 'name\tmore.n\tmore.t\r\nA;B\t1.5\t1.5\r\n'],
    [['--decimal-comma'], 'name;more.n;more.t\r\n"A;B";1,5;1.5\r\n'],
    [['--decimal-comma', '--separator', ','], 'name,more.n,more.t\r\nA;B,"1,5",1.5\r\n'],
  ])('csv for spreadsheets of other countries: %j', async (flags, csv) => {
    const record = { ...plain, name: 'A;B', more: { n: 1.5, t: '1.5' } };
    const { stdout } = await list(
      [record],
      '-o',
      'csv',
      '--fields',
      'name,more.n,more.t',
      ...flags,
    );
    expect(stdout).toBe(csv);
  });

  it.each([
    [['--separator', ';'], '--separator works with -o csv, not with table.'],
    [['--decimal-comma', '-o', 'json'], '--decimal-comma works with -o csv, not with json.'],
    [['-o', 'csv', '--separator', '|'], '--separator must be one of , ; tab, not "|".'],
  ])('2 for %j', async (flags, why) => {
    const { code, stdout, stderr } = await list([plain], ...flags);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(why);
  });

  it('name is the name, or the id of a record whose name is unprintable', async () => {
    expect(
      (
        await list(
          [plain, { ...plain, name: 'a\u001b[2J' }, { ...plain, name: id.replace('0', '1') }],
          '-o',
          'name',
        )
      ).stdout,
    ).toBe(`Lobby\n${id}\n${id}\n`);
  });

  it('table widens for later pages, and never truncates', async () => {
    const longer = { ...plain, name: '東京'.repeat(10) };
    stub.answers.splice(
      0,
      Infinity,
      json(200, { items: [plain], nextCursor: 'x' }),
      json(200, { items: [longer, plain], nextCursor: null }),
    );
    const { stdout } = await runCli(['venue', 'list', '--fields', 'name,id'], {
      env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' },
    });
    const gap = ' '.repeat(35);
    expect(stdout).toBe(`NAME   ID\nLobby  ${id}\n${longer.name}  ${id}\nLobby${gap}  ${id}\n`);
  });

  it('table has bold headers at a terminal, unless NO_COLOR is set', async () => {
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' };
    const page = { items: [plain], nextCursor: null };
    expect((await run(['venue', 'list'], page, { tty: true, env })).stdout).toSatisfy(
      (text: string) => text.startsWith('\u001b[1mNAME '),
    );
    for (const more of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      expect(
        (await run(['venue', 'list'], page, { tty: true, env: { ...env, ...more } })).stdout,
      ).toMatch(/^NAME /);
    }
    expect((await run(['venue', 'list'], page, { env })).stdout).toMatch(/^NAME /);
  });

  it('wide is not cut to the width of a terminal', async () => {
    const page = { items: [plain], nextCursor: null };
    const { stdout } = await run(['venue', 'list', '-o', 'wide'], page, { tty: true, columns: 60 });
    expect(stdout).toContain(id);
    expect(stdout).not.toContain('…');
  });

  it('json and ndjson are the data of the service, from all pages or up to --limit', async () => {
    const items = Array.from({ length: 200 }, () => plain);
    const pages = [
      json(200, { items, nextCursor: 'x' }),
      json(200, { items: [plain, plain], nextCursor: null }),
    ];
    const listed = (argv: string) => {
      stub.answers.splice(0, Infinity, ...pages);
      stub.heard.length = 0;
      return runCli(argv, { env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' } });
    };
    expect((await listed('venue list -o ndjson --limit 201')).ndjson).toEqual([...items, plain]);
    expect((await listed('venue list -o json')).json).toEqual([...items, plain, plain]);
    expect(stub.heard.map(({ url }) => url)).toEqual([
      '/v1/venues?limit=200',
      '/v1/venues?limit=200&cursor=x',
    ]);
  });

  it('may precede the noun', async () => {
    const { json: result } = await run(
      ['-o', 'json', '--url', stub.url, 'venue', 'get', id],
      plain,
      { env: { SIGNAGE_TOKEN: 'mak_x' } },
    );
    expect(result).toEqual(plain);
  });
});
