import { beforeAll, describe, expect, it } from 'vitest';
import type { systemClock } from '../../../src/domain/clock.ts';
import { adminToken, type TestService } from '../../support/service.ts';
import { hangUp, json, raw, silence, stubService } from '../../support/stub-service.ts';
import { type Cli, type CliOptions, runCli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<typeof systemClock>;
let as: (role: string) => Promise<Cli>;
beforeAll(async () => {
  ({ cli, service, as } = await startCli());
  const venue = await service.venue({ name: 'Main Lobby', address: '1 Long Street' });
  await service.venue({ name: 'Lab' });
  await service.screen({ venueId: venue.id, name: 'Door left' });
  await service.screen({ venueId: venue.id, name: 'Wall' });
  await service.token('viewer');
});

/** Returns the candidates for the last word, without descriptions. */
async function offered(
  words: string[],
  { run = cli, ...options }: CliOptions & { run?: typeof runCli } = {},
): Promise<string[]> {
  const { code, stdout, stderr } = await run(['completion', 'fish', '--', ...words], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t', 1)[0] ?? '');
}

/** Returns the text that bash inserts for an unfinished line. */
async function inserted(line: string): Promise<string[]> {
  const { code, stdout, stderr } = await cli(['completion', 'bash', '--', line]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').slice(0, -1);
}

describe('signage completion SHELL', () => {
  it.each(['bash', 'zsh', 'fish'])('prints the script of %s without a service', async (shell) => {
    const { code, stdout, stderr } = await runCli(['completion', shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`signage completion ${shell}`);
  });

  it('2 for an unknown shell', async () => {
    const { code, stderr } = await runCli(['completion', 'tcsh']);
    expect(code).toBe(2);
    expect(stderr).toContain('bash, zsh, fish');
  });

  it('completes the command completion', async () =>
    expect(await offered(['completion', ''])).toEqual(['bash', 'zsh', 'fish']));
});

describe('completion of commands and options', () => {
  it('completes the first word, with descriptions', async () => {
    expect(await offered([''])).toEqual(
      expect.arrayContaining(['venue', 'screen', 'serve', 'doctor', 'help']),
    );
    const { stdout } = await cli(['completion', 'zsh', '--', 'ven']);
    expect(stdout).toBe('venue\tPlaces with screens\n');
  });

  it('completes the first word after options', async () => {
    expect(await offered(['-o', 'json', '--url', 'http://127.0.0.1:1', 'ven'])).toEqual(['venue']);
    expect(await offered(['--u'])).toEqual(['--url']);
  });

  it('completes verbs', async () => {
    expect(await offered(['venue', ''])).toEqual(['create', 'list', 'get', 'update', 'delete']);
    expect(await offered(['venue', 'li'])).toEqual(['list']);
    expect(await offered(['help', 'venue', 'li'])).toEqual(['list']);
  });

  it('completes options, without those already given, except repeatable ones', async () => {
    const options = await offered(['venue', 'create', '--name', 'X', '--label', 'a=b', '--']);
    expect(options).toEqual(
      expect.arrayContaining(['--address', '--label', '--dry-run', '--output', '--url', '--help']),
    );
    expect(options).not.toContain('--name');
    expect(await offered(['venue', 'delete', '--ye'])).toEqual(['--yes']);
  });

  it('completes choices after a space and after =', async () => {
    expect(await offered(['venue', 'list', '-o', ''])).toEqual([
      'table',
      'wide',
      'json',
      'ndjson',
      'yaml',
      'csv',
      'name',
      'junit',
    ]);
    expect(await offered(['venue', 'list', '--output', 'nd'])).toEqual(['ndjson']);
    expect(await offered(['venue', 'list', '--output=n'])).toEqual([
      '--output=ndjson',
      '--output=name',
    ]);
    expect(await offered(['screen', 'list', '--state', ''])).toEqual(['provisioning', 'active']);
  });

  it('asks the shell to complete file names', async () => {
    expect((await cli(['completion', 'bash', '--', 'signage venue list --ca-file '])).stdout).toBe(
      '\t\n',
    );
    expect((await cli(['completion', 'zsh', '--', 'venue', 'list', '--ca-file='])).stdout).toBe(
      '\t\n',
    );
  });

  it.each([
    [['nothing', '']],
    [['venue', 'nothing', '']],
    [['venue', 'create', '--name', '']],
    [['venue', 'list', '--', '']],
    [['venue', 'list', '']],
  ])('completes nothing for %j', async (words) => expect(await offered(words)).toEqual([]));
});

describe('completion of names', () => {
  it('completes venues, ignoring case', async () => {
    expect(await offered(['venue', 'get', ''])).toEqual(['Main Lobby', 'Lab']);
    expect(await offered(['venue', 'get', 'main'])).toEqual(['Main Lobby']);
    expect(await offered(['screen', 'list', '--venue', 'La'])).toEqual(['Lab']);
    expect(await offered(['screen', 'list', '--venue=La'])).toEqual(['--venue=Lab']);
  });

  it('completes screens like a path', async () => {
    expect(await offered(['doctor', ''])).toEqual(['Main Lobby/', 'Lab/']);
    expect(await offered(['doctor', 'Main Lobby/'])).toEqual([
      'Main Lobby/Door left',
      'Main Lobby/Wall',
    ]);
    expect(await offered(['doctor', 'Main Lobby/W'])).toEqual(['Main Lobby/Wall']);
    expect(await offered(['doctor', 'Nowhere/'])).toEqual([]);
  });

  it('completes tenants', async () => {
    expect(await offered(['venue', 'list', '--tenant', ''])).toEqual(['default']);
  });

  it('completes tokens, with their role', async () => {
    const { stdout } = await cli(['completion', 'zsh', '--', 'token', 'get', 'Token']);
    expect(stdout).toMatch(/^Token \d+\tviewer\n/);
  });

  it('completes saved contexts', async () => {
    const { temporaryFolder } = await import('../../support/temporary-folder.ts');
    const env = { XDG_CONFIG_HOME: await temporaryFolder() };
    const login = ['login', '--url', service.url, '--token-stdin', '--context', 'lab'];
    const saved = await runCli(login, { env, stdin: adminToken });
    expect(saved.code, saved.stderr).toBe(0);
    expect(await offered(['venue', 'list', '--context', ''], { run: runCli, env })).toEqual([
      'lab',
    ]);
    expect(await offered(['venue', 'get', 'L'], { run: runCli, env })).toEqual(['Lab']);
  });

  it('asks the service that the command line names', async () => {
    const env = { SIGNAGE_TOKEN: adminToken, SIGNAGE_URL: 'http://127.0.0.1:9' };
    expect(
      await offered(['--url', service.url, 'venue', 'get', 'L'], { run: runCli, env }),
    ).toEqual(['Lab']);
    expect(
      await offered(['venue', 'get', '--url', service.url, 'L'], { run: runCli, env }),
    ).toEqual(['Lab']);
    expect(await offered(['venue', 'get', 'L'], { run: runCli, env })).toEqual([]);
  });

  it('completes nothing with an insufficient role', async () => {
    expect(await offered(['venue', 'list', '--tenant', ''], { run: await as('viewer') })).toEqual(
      [],
    );
  });

  it('completes nothing without a token, and sends no request', async () => {
    const stub = await stubService(json(200, {}));
    expect(
      await offered(['venue', 'get', ''], { run: runCli, env: { SIGNAGE_URL: stub.url } }),
    ).toEqual([]);
    expect(stub.heard).toEqual([]);
    await stub.close();
  });

  it.each([
    ['HTML', raw(200, '<html>')],
    ['half an answer', raw(200, '{"items":[{"id":')],
    ['an answer of another shape', json(200, { items: [{ name: 1 }] })],
    ['a closed connection', hangUp],
    ['401', json(401, { code: 'credential_invalid', detail: 'no' })],
    ['silence', silence],
  ])('completes nothing, quickly, for %s', async (_, answer) => {
    const stub = await stubService(answer);
    const startedMs = Date.now();
    expect(
      await offered(['venue', 'get', ''], {
        run: runCli,
        env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: adminToken },
      }),
    ).toEqual([]);
    expect(Date.now() - startedMs).toBeLessThan(3_000);
    await stub.close();
  });

  it('offers ids for names that cannot be typed', async () => {
    const times = {
      createdAt: '',
      updatedAt: '',
      tenantId: 't',
      address: 'a\tb\nc',
      timezone: null,
      labels: {},
    };
    const items = ['\u001b[2J', 'a\nb', '--yes', 'Plain'].map((name, at) => ({
      id: `id-${at}`,
      name,
      ...times,
    }));
    const stub = await stubService(json(200, { items, nextCursor: null }));
    const { stdout } = await runCli(['completion', 'fish', '--', 'venue', 'get', ''], {
      env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: adminToken },
    });
    expect(stdout).toBe('id-0\ta b c\nid-1\ta b c\nPlain\ta b c\n');
    await stub.close();
  });
});

describe('completion in bash', () => {
  it.each([
    ['signage ven', ['venue']],
    ['  /usr/local/bin/signage  venue  g', ['get']],
    ['signage venue get Main', ['Main\\ Lobby']],
    ['signage venue get Main\\ L', ['Main\\ Lobby']],
    ['signage venue get "Main L', ['Main Lobby']],
    ["signage venue get 'Main L", ['Main Lobby']],
    ['signage screen list --venue=Ma', ['Main\\ Lobby']],
    ['signage screen list --venue="Ma', ['Main Lobby']],
    ['signage venue list --output=nd', ['ndjson']],
    ['signage doctor Main\\ Lobby/', ['Main\\ Lobby/Door\\ left', 'Main\\ Lobby/Wall']],
    ['signage', []],
  ])('completes %s|', async (line, words) => expect(await inserted(line)).toEqual(words));

  it('quotes any name', async () => {
    const names = ['$(touch x)', 'it\'s `x` "y"', 'a:b;c', '~root', 'Größe 5*'];
    const times = {
      createdAt: '',
      updatedAt: '',
      tenantId: 't',
      address: null,
      timezone: null,
      labels: {},
    };
    const stub = await stubService(
      json(200, {
        items: names.map((name, at) => ({ id: `id-${at}`, name, ...times })),
        nextCursor: null,
      }),
    );
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: adminToken };
    const lines = async (line: string) =>
      (await runCli(['completion', 'bash', '--', line], { env })).stdout.split('\n').slice(0, -1);
    expect(await lines('signage venue get ')).toEqual([
      '\\$\\(touch\\ x\\)',
      'it\\\'s\\ \\`x\\`\\ \\"y\\"',
      'a:b\\;c',
      '\\~root',
      'Größe\\ 5\\*',
    ]);
    expect(await lines('signage venue get a:')).toEqual(['b\\;c']);
    expect(await lines('signage venue get "')).toEqual([
      '\\$(touch x)',
      'it\'s \\`x\\` \\"y\\"',
      'a:b;c',
      '~root',
      'Größe 5*',
    ]);
    expect(await lines("signage venue get '")).toEqual([
      '$(touch x)',
      'a:b;c',
      '~root',
      'Größe 5*',
    ]);
    await stub.close();
  });
});
