import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCli } from '../../cli/run-cli.ts';
import { adminToken, type TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { Place } from './checker.ts';
import type { Sentinels } from './sentinels.ts';

const claimToken = `clm_${'CanaryOfAClaim'.repeat(3)}9876543`;

interface Command {
  argv: readonly string[];
  env?: Record<string, string>;
  stdin?: string;
}

/** Commands that use secrets, including failing ones. */
async function commands(
  service: TestService,
  sentinels: Sentinels,
  playerLink: string,
): Promise<Command[]> {
  const wrong = sentinels.add(
    'a token that is no good',
    'mak_CanaryOfATokenThatIsNoGood0123456789',
  );
  const password = sentinels.add('a password in a URL', 'canary-of-the-url-5d2');
  const folder = await temporaryFolder();
  const file = join(folder, 'token');
  await writeFile(file, `${wrong}\n`, { mode: 0o600 });
  const database = `postgres://signage:${password}@127.0.0.1:1/signage`;
  const stored = { SIGNAGE_STORE: database };
  const tv = await service.tv();
  sentinels.add('the apiKey of a TV that a command looks at', tv.apiKey);
  return [
    ...[
      'whoami',
      'doctor',
      'screen list',
      'device list',
      'token list',
      'tenant list',
      'audit list',
      'event list',
      'context list',
    ].flatMap((words): Command[] =>
      ['table', 'json'].map((form) => ({ argv: [...words.split(' '), '--verbose', '-o', form] })),
    ),
    { argv: ['device', 'get', tv.deviceId, '--verbose'] },
    { argv: ['screen', 'get', 'there is none', '--verbose'] },
    { argv: ['api', 'GET', '/v1/audit', '--paginate', '--verbose'] },
    { argv: ['api', 'GET', `/v1/screens?search=${tv.apiKey}`, '--verbose'] },
    { argv: ['screen', 'list', '--verbose'], env: { SIGNAGE_TOKEN: wrong } },
    { argv: ['screen', 'list', '--verbose', '--token-file', file], env: { SIGNAGE_TOKEN: '' } },
    {
      argv: ['screen', 'list', '--verbose'],
      env: { SIGNAGE_URL: `http://admin:${password}@127.0.0.1:1` },
    },
    { argv: ['screen', 'list', '--verbose'], env: { SIGNAGE_URL: 'http://127.0.0.1:1' } },
    { argv: ['login', '--token-stdin', '--verbose'], stdin: wrong },
    { argv: ['code', 'status', '-', '--verbose'], stdin: 'ZZZZ2345' },
    { argv: ['code', 'claim', sentinels.add('a claim token as a claim', claimToken), '--verbose'] },
    {
      argv: [
        ...['pair', (await service.screen()).id, '--wait-for', 'registered', '--verbose'],
        ...['--player-link-file', playerLink],
      ],
    },
    {
      argv: [
        'token',
        'create',
        '--name',
        'Filed',
        '--role',
        'viewer',
        '--output-file',
        join(folder, 'made'),
      ],
    },
    {
      argv: ['serve', '--port', '0', '--no-context', '--log-level', 'debug'],
      env: { ...stored, SIGNAGE_ADMIN_TOKEN: adminToken },
    },
    {
      argv: ['serve', '--port', '0', '--store', 'memory', '--no-context'],
      env: { SIGNAGE_ADMIN_TOKEN: `${wrong}!` },
    },
    {
      argv: ['serve', '--port', '0', '--no-context'],
      env: { SIGNAGE_STORE: `mysql://root:${password}@127.0.0.1/x` },
    },
    {
      argv: ['serve', '--port', '0', '--no-context'],
      env: { SIGNAGE_STORE: `${database}?sslmode=${password}` },
    },
    { argv: ['store', 'migrate', '--verbose'], env: stored },
    { argv: ['data', 'check', '--data', join(folder, 'nowhere'), '--verbose'] },
    { argv: ['simulate', '--verbose', '--duration', '1s'], env: { SIGNAGE_TOKEN: wrong } },
  ];
}

/** Returns the output of commands that use secrets. */
export async function runCommands(service: TestService, sentinels: Sentinels): Promise<Place[]> {
  const places: Place[] = [];
  const playerLink = join(await temporaryFolder(), 'player.url');
  for (const { argv, env, stdin } of await commands(service, sentinels, playerLink)) {
    const world = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken, ...env };
    const { code, stdout, stderr } = await runCli(argv, {
      env: world,
      ...(stdin !== undefined && { stdin }),
    });
    places.push({
      where: `what signage ${argv.join(' ')} said (it ended with ${code})`,
      contents: `${stdout}\n${stderr}`,
    });
  }
  const link = await readFile(playerLink, 'utf8');
  sentinels.add('the apiKey in a player-link file', /dak_\w+/.exec(link)?.[0] ?? '');
  return places;
}
