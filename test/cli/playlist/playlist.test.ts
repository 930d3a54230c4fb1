import { readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { item } from '../../support/content.ts';
import type { TestService } from '../../support/service.ts';
import { json, stubService } from '../../support/stub-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Cli, runCli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let as: (role: string) => Promise<Cli>;
let count = 0;

beforeAll(async () => {
  ({ cli, service, as } = await startCli());
});

/** Creates a venue with these screens. Returns its name. */
async function site(...names: string[]) {
  const venue = `Site ${++count}`;
  const { id: venueId } = await service.venue({ name: venue });
  const screens = [];
  for (const name of names)
    screens.push(await service.screen({ venueId, name, labels: { site: `${count}` } }));
  return { venue, venueId, screens, label: `site=${count}` };
}

const stored = (id: string) => service.manage('GET', `/v1/screens/${id}/playlist`);
const publish = (id: string, ...items: object[]) =>
  service.manage('PUT', `/v1/screens/${id}/playlist`, { items });
const piped = (content: unknown) => ({
  stdin: typeof content === 'string' ? content : JSON.stringify(content),
});

describe('signage playlist publish', () => {
  it('publishes a YAML file on a screen, and prints the new version', async () => {
    const { venue, screens } = await site('Main');
    const file = `${await temporaryFolder()}/spring.yaml`;
    const { creativeId } = item();
    await writeFile(
      file,
      `items:\n  - creativeId: ${creativeId}\n    creativeUrl: https://media.example.com/a.mp4\n    creativeType: video\n    duration: 15\nvalidUntil: 2099-12-24\n`,
    );
    const run = await cli(['playlist', 'publish', `${venue}/Main`, '-f', file, '-o', 'json']);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.json).toMatchObject({
      status: 'active',
      version: 1,
      validUntil: Date.UTC(2099, 11, 24) / 1000,
      items: [{ creativeId }],
    });
    expect((await stored(screens[0].id)).body).toEqual(run.json);
  });

  it('shows the playlist as a table', async () => {
    const { venue } = await site('Main');
    const { stdout } = await cli(
      ['playlist', 'publish', `${venue}/Main`, '-f', '-'],
      piped({ items: [item(), item()] }),
    );
    expect(stdout).toMatch(/^Version +1\nStatus +active\nValid until +-\nItems +2\nSeconds +30\n/);
  });

  it.each([
    ['2099-12-24T10:00:00Z', Date.UTC(2099, 11, 24, 10) / 1000],
    ['4102444800', 4102444800],
    ['4102444800000', 4102444800],
    ['none', null],
  ])('--valid-until %s overrides the end in the file', async (text, validUntil) => {
    const { venue } = await site('Main');
    const line = [
      'playlist',
      'publish',
      `${venue}/Main`,
      '-f',
      '-',
      '--valid-until',
      text,
      '-o',
      'json',
    ];
    expect(
      (await cli(line, piped({ items: [item()], validUntil: 4000000000 }))).json,
    ).toMatchObject({ validUntil });
  });

  it('accepts a time span from now', async () => {
    const { venue } = await site('Main');
    const { json } = await cli(
      ['playlist', 'publish', `${venue}/Main`, '-f', '-', '--valid-until', '7d', '-o', 'json'],
      piped([item()]),
    );
    expect(Math.abs(json.validUntil - Date.now() / 1000 - 7 * 86_400)).toBeLessThan(60);
  });

  it.each(['json', 'yaml'])('publishes what playlist get shows as %s', async (form) => {
    const { venue, screens } = await site('One', 'Two');
    await publish(screens[0].id, item({ campaignId: item().creativeId }));
    const { stdout } = await cli(['playlist', 'get', `${venue}/One`, '-o', form]);
    expect(
      (await cli(['playlist', 'publish', `${venue}/Two`, '-f', '-'], piped(stdout))).code,
    ).toBe(0);
    expect((await stored(screens[1].id)).body.items).toEqual(
      (await stored(screens[0].id)).body.items,
    );
  });

  it('publishes on all screens with a label; a second time changes nothing', async () => {
    const { venue, screens, label } = await site('One', 'Two');
    const content = piped({ items: [item()] });
    await service.manage('PUT', `/v1/screens/${screens[0].id}/playlist`, content.stdin);
    const line = ['playlist', 'publish', '--selector', label, '-f', '-', '-o', 'ndjson'];
    const { code, ndjson } = await cli(line, content);
    expect(code).toBe(0);
    expect(ndjson).toEqual([
      { name: `${venue}/One`, id: screens[0].id, result: 'unchanged', error: null },
      { name: `${venue}/Two`, id: screens[1].id, result: 'published', error: null },
    ]);
    expect((await cli(line, content)).ndjson.map(({ result }) => result)).toEqual([
      'unchanged',
      'unchanged',
    ]);
    expect((await stored(screens[0].id)).body.version).toBe(1);
  });

  it('publishes on all screens of a venue, and on several named screens', async () => {
    const { venue } = await site('One', 'Two', 'Three');
    const content = piped({ items: [item()] });
    const named = await cli(
      [
        'playlist',
        'publish',
        `${venue}/One`,
        `${venue}/Two`,
        `${venue}/One`,
        '-f',
        '-',
        '-o',
        'csv',
      ],
      content,
    );
    expect(
      named.stdout
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',')[1]),
    ).toEqual(['published', 'published']);
    const all = await cli(
      ['playlist', 'publish', '--venue', venue, '-f', '-', '-o', 'ndjson'],
      content,
    );
    expect(all.ndjson.map(({ result }) => result)).toEqual(['unchanged', 'unchanged', 'published']);
  });

  it('continues after a screen that fails, and exits with 9', async () => {
    const { venue, screens, label } = await site('One', 'Two');
    const { stdin } = piped({ items: [item()], validUntil: 1 });
    const { code, ndjson } = await cli(
      ['playlist', 'publish', '--selector', label, '-f', '-', '-o', 'ndjson'],
      { stdin },
    );
    expect([code, ndjson.map(({ name, result }) => [name, result])]).toEqual([
      9,
      [
        [`${venue}/One`, 'failed'],
        [`${venue}/Two`, 'failed'],
      ],
    ]);
    expect(ndjson[0].error).toContain('must be in the future');
    expect((await stored(screens[0].id)).status).toBe(404);
  });

  it('publishes nothing when one name is unknown', async () => {
    const { venue, screens } = await site('One');
    expect(
      (
        await cli(
          ['playlist', 'publish', `${venue}/One`, `${venue}/Tow`, '-f', '-'],
          piped([item()]),
        )
      ).code,
    ).toBe(3);
    expect((await stored(screens[0].id)).status).toBe(404);
  });

  it('validates the content before publishing on several screens', async () => {
    const { venue, screens } = await site('One');
    const run = await cli(
      ['playlist', 'publish', '--venue', venue, '-f', '-'],
      piped({ items: [item({ duration: 0 })], valid: 1 }),
    );
    expect([run.code, run.stdout]).toEqual([6, '']);
    expect(run.stderr).toContain('stdin, line 1: items[0].duration: must be more than 0 seconds');
    expect(run.stderr).toContain('stdin, line 1: valid: is not a known entry');
    expect((await stored(screens[0].id)).status).toBe(404);
  });

  it('--dry-run shows the requests and sends none', async () => {
    const { venue, screens } = await site('One', 'Two');
    const run = await cli(
      ['playlist', 'publish', '--venue', venue, '-f', '-', '--dry-run', '-o', 'ndjson'],
      piped([item()]),
    );
    expect(run.code).toBe(0);
    expect(run.ndjson.map(({ method, path }) => [method, path])).toEqual(
      screens.map(({ id }) => ['PUT', `/v1/screens/${id}/playlist`]),
    );
    expect((await stored(screens[0].id)).status).toBe(404);
  });

  it('publishes the example of README', async () => {
    const { screens } = await site('Main');
    const [line = ''] =
      /signage playlist publish .*json/.exec(await readFile('README.md', 'utf8')) ?? [];
    const words = line.replace('Lobby/Main', screens[0].id).split(' ').slice(1);
    expect((await cli([...words, '--dry-run'])).code).toBe(0);
  });

  it('6 for {media} in an example, with what to do', async () => {
    const example = ['-f', 'fixtures/playlists/welcome.json'];
    const { code, stderr } = await cli(['playlist', 'publish', 'Main', ...example]);
    expect(code).toBe(6);
    expect(stderr).toContain('replace {media} by the URL of your media folder.');
  });

  it.each([
    ['no screen', ['-f', '-'], 2, /Name a screen/],
    ['both a name and a filter', ['Main', '--selector', 'a=b', '-f', '-'], 2, /but not both/],
    ['no file', ['Main'], 2, /--file must be given/],
    ['a missing file', ['Main', '-f', '/nowhere.yaml'], 2, /No such file: \/nowhere\.yaml\./],
    [
      'no time',
      ['Main', '-f', '-', '--valid-until', 'tomorrow'],
      2,
      /--valid-until must be a time such as/,
    ],
    ['an unknown screen', ['Nowhere', '-f', '-'], 3, /There is no screen "Nowhere"/],
  ])('refuses %s', async (_, words, code, message) => {
    const run = await cli(['playlist', 'publish', ...words], piped([item()]));
    expect([run.code, run.stdout]).toEqual([code, '']);
    expect(run.stderr).toMatch(message);
  });

  it.each([
    ['what is no YAML', '{', 6],
    ['a text', 'hello', 6],
    ['two documents', 'items: []\n---\nitems: []\n', 6],
    ['no items', 'items: []', 6],
    ['an end that is no time', 'items: []\nvalidUntil: soon', 2],
  ])('refuses a file with %s', async (_, stdin, code) => {
    const { venue, screens } = await site('Main');
    expect((await cli(['playlist', 'publish', `${venue}/Main`, '-f', '-'], { stdin })).code).toBe(
      code,
    );
    expect((await stored(screens[0].id)).status).toBe(404);
  });

  it.each([
    [
      'a playlist',
      'items:\n  - creativeId: x\n    creativeUrl: ftp://x\nvalid: 1\n',
      ['line 4: valid: is not a known entry', 'line 2: items[0].creativeId: must be a UUID'],
    ],
    ['a list of items', '- {}\n- {}\n', ['line 1: [0].creativeId: ', 'line 2: [1].duration: ']],
  ])('names file, line and member of all mistakes in %s', async (_, text, wanted) => {
    const { venue, screens } = await site('Main');
    const file = `${await temporaryFolder()}/spring.yaml`;
    await writeFile(file, text);
    const run = await cli(['playlist', 'publish', `${venue}/Main`, '-f', file]);
    expect([run.code, run.stdout]).toEqual([6, '']);
    for (const one of wanted) expect(run.stderr).toContain(` ${file}, ${one}`);
    expect((await stored(screens[0].id)).status).toBe(404);
  });

  it('4 for a viewer, also for all screens of a venue', async () => {
    const { venue, screens } = await site('Main');
    const viewer = await as('viewer');
    const many = await viewer(
      ['playlist', 'publish', '--venue', venue, '-f', '-'],
      piped([item()]),
    );
    expect(many.code).toBe(4);
    expect((await stored(screens[0].id)).status).toBe(404);
  });
});

describe('signage playlist get', () => {
  it('prints the record unchanged', async () => {
    const { venue, screens } = await site('Main');
    await publish(screens[0].id, item());
    const { code, json } = await cli(['playlist', 'get', `${venue}/Main`, '-o', 'json']);
    expect([code, json]).toEqual([0, (await stored(screens[0].id)).body]);
    expect((await cli(['playlist', 'get', `${venue}/Main`, '-o', 'name'])).stdout).toBe(
      `${screens[0].id}\n`,
    );
  });

  it('lists the items, escaped', async () => {
    const { venue, screens } = await site('Main');
    await publish(
      screens[0].id,
      item({ note: '\u001b[2J' }),
      item({ creativeType: 'image', duration: 0.5 }),
    );
    const table = await cli(['playlist', 'get', `${venue}/Main`, '--items']);
    expect(table.stdout).toMatch(
      /^CREATIVE TYPE +DURATION +CREATIVE URL +CREATIVE ID\nvideo +15 +https.*\nimage +0\.5 +https.*\n$/,
    );
    const wide = await cli(['playlist', 'get', `${venue}/Main`, '--items', '-o', 'wide']);
    expect(wide.stdout).toContain('note=\\u001b[2J');
    expect(
      (await cli(['playlist', 'get', `${venue}/Main`, '--items', '-o', 'json'])).json,
    ).toHaveLength(2);
  });

  it('3 without a playlist, with a hint', async () => {
    const { venue } = await site('Main');
    const { code, stdout, stderr } = await cli(['playlist', 'get', `${venue}/Main`]);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain(`signage playlist publish '${venue}/Main' -f`);
  });

  it('prints an invalid end unchanged', async () => {
    const id = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';
    const record = {
      id,
      tenantId: id,
      name: 'x',
      createdAt: '',
      updatedAt: '',
      venueId: id,
      labels: {},
      state: 'active',
      deviceId: null,
    };
    const playlist = {
      id,
      tenantId: id,
      screenId: id,
      status: '\u001b]0;x\u0007',
      version: 1,
      validUntil: 9e20,
      items: [],
    };
    const stub = await stubService(
      json(200, { ...record, provisioningCode: null }),
      json(200, playlist),
    );
    const run = await runCli(['playlist', 'get', id], {
      env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' },
    });
    await stub.close();
    expect(run.stdout).toContain('900000000000000000000');
    expect(run.stdout).toContain('\\u001b]0;x\\u0007');
  });
});

describe('signage playlist withdraw', () => {
  it('asks, then withdraws the playlist', async () => {
    const { venue, screens } = await site('Main');
    await publish(screens[0].id, item());
    const line = ['playlist', 'withdraw', `${venue}/Main`];
    const refused = await cli(line, { tty: true, keys: [[/Withdraw the playlist of/, 'n\r']] });
    expect([refused.code, (await stored(screens[0].id)).status]).toEqual([5, 200]);
    const run = await cli(line, { tty: true, keys: [[/Withdraw the playlist of/, 'y\r']] });
    expect([run.code, run.stdout, (await stored(screens[0].id)).status]).toEqual([0, '', 404]);
    expect(run.stderr).toContain(`Withdrew the playlist of "${venue}/Main".`);
  });

  it('says that a screen has no playlist, alone and among several', async () => {
    const { venue, screens } = await site('Main', 'Empty');
    await publish(screens[0].id, item());
    const run = await cli(['playlist', 'withdraw', `${venue}/Empty`, '--yes']);
    expect(run).toMatchObject({
      code: 0,
      stderr: `"${venue}/Empty" has no playlist. Nothing was changed.\n`,
    });
    const line = ['playlist', 'withdraw', `${venue}/Main`, `${venue}/Empty`, '--yes'];
    const { ndjson } = await cli([...line, '-o', 'ndjson']);
    expect(ndjson.map(({ result }) => result)).toEqual(['withdrawn', 'no playlist']);
  });

  it('2 without a terminal, and sends nothing', async () => {
    const { venue, screens } = await site('Main');
    await publish(screens[0].id, item());
    const run = await cli(['playlist', 'withdraw', `${venue}/Main`]);
    expect([run.code, (await stored(screens[0].id)).status]).toEqual([2, 200]);
    expect(run.stderr).toContain('--yes');
    expect((await cli(['playlist', 'withdraw', `${venue}/Main`, '--dry-run'])).code).toBe(0);
    expect((await stored(screens[0].id)).status).toBe(200);
  });

  it('withdraws several playlists, with one result each', async () => {
    const { venue, screens, label } = await site('One', 'Two');
    for (const { id } of screens) await publish(id, item());
    const { code, ndjson } = await cli([
      'playlist',
      'withdraw',
      '--selector',
      label,
      '--yes',
      '-o',
      'ndjson',
    ]);
    expect([code, ndjson.map(({ name, result }) => [name, result])]).toEqual([
      0,
      [
        [`${venue}/One`, 'withdrawn'],
        [`${venue}/Two`, 'withdrawn'],
      ],
    ]);
    expect((await stored(screens[1].id)).status).toBe(404);
  });
});

describe('signage playlist history', () => {
  it('lists the versions, newest first', async () => {
    const { venue, screens } = await site('Main');
    for (let n = 1; n <= 3; n++) await publish(screens[0].id, item({ duration: n }));
    const { code, stdout } = await cli(['playlist', 'history', `${venue}/Main`]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^VERSION +STATUS +VALID UNTIL +ITEMS +SECONDS\n3 +active +- +1 +3\n2 +superseded +- +1 +2\n1 +superseded +- +1 +1\n$/,
    );
    expect(
      (await cli(['playlist', 'history', `${venue}/Main`, '--limit', '2', '-o', 'name'])).stdout,
    ).toBe('3\n2\n');
  });

  it('is empty without a playlist; 3 for an unknown screen', async () => {
    const { venue } = await site('Main');
    expect(await cli(['playlist', 'history', `${venue}/Main`, '-o', 'json'])).toMatchObject({
      code: 0,
      json: [],
    });
    expect((await cli(['playlist', 'history', 'Nowhere'])).code).toBe(3);
  });
});

describe('signage playlist rollback', () => {
  it('publishes the content of a version again', async () => {
    const { venue, screens } = await site('Main');
    const first = (await publish(screens[0].id, item())).body;
    await publish(screens[0].id, item());
    const run = await cli(['playlist', 'rollback', `${venue}/Main`, '1', '-o', 'json']);
    expect(run.code).toBe(0);
    expect(run.json).toMatchObject({
      version: 3,
      status: 'active',
      items: first.items,
      validUntil: null,
    });
    expect(run.stderr).toContain('as version 3');
    const again = await cli(['playlist', 'rollback', `${venue}/Main`, 'v1', '-o', 'json']);
    expect([again.code, again.json.version]).toEqual([0, 3]);
    expect(again.stderr).toContain('Nothing to do');
  });

  it('works after a withdrawal, too', async () => {
    const { venue, screens } = await site('Main');
    await publish(screens[0].id, item());
    await service.manage('DELETE', `/v1/screens/${screens[0].id}/playlist`);
    expect(
      (await cli(['playlist', 'rollback', `${venue}/Main`, '1', '-o', 'json'])).json,
    ).toMatchObject({ version: 2, status: 'active' });
  });

  it('6 for an expired version, unless it gets a new end', async () => {
    const { venue, screens } = await site('Main');
    const soon = Math.floor(Date.now() / 1000) + 3600;
    await service.manage('PUT', `/v1/screens/${screens[0].id}/playlist`, {
      items: [item()],
      validUntil: soon,
    });
    await publish(screens[0].id, item());
    const clock = { now: () => (soon + 1) * 1000, after: () => () => {} };
    const refused = await cli(['playlist', 'rollback', `${venue}/Main`, '1'], { clock });
    expect([refused.code, (await stored(screens[0].id)).body.version]).toEqual([6, 2]);
    expect(refused.stderr).toContain('--valid-until');
    const run = await cli(
      ['playlist', 'rollback', `${venue}/Main`, '1', '--valid-until', 'none', '-o', 'json'],
      { clock },
    );
    expect(run.json).toMatchObject({ version: 3, validUntil: null });
  });

  it('3 for a version that is not kept, listing the kept ones; 2 for an invalid version', async () => {
    const { venue, screens } = await site('Main');
    await publish(screens[0].id, item());
    const run = await cli(['playlist', 'rollback', `${venue}/Main`, '7']);
    expect([run.code, run.stdout]).toEqual([3, '']);
    expect(run.stderr).toContain('Kept versions: 1');
    expect((await cli(['playlist', 'rollback', `${venue}/Main`, 'last'])).code).toBe(2);
  });
});
