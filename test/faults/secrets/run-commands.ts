import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCli } from '../../cli/run-cli.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { adminToken, type TestService } from '../../support/service/service.ts';
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
  const screen = await service.screen();
  const claim = sentinels.add('a claim token as a claim', claimToken);
  const serve = 'serve --port 0 --no-context';
  const reads =
    'whoami,doctor,screen list,device list,token list,tenant list,audit list,event list';
  const command = (words: string, env?: Command['env'], stdin?: string): Command => ({
    argv: words.split(' '),
    ...(env && { env }),
    ...(stdin !== undefined && { stdin }),
  });
  return [
    ...`${reads},context list`
      .split(',')
      .flatMap((words) =>
        ['table', 'json'].map((form) => command(`${words} --verbose -o ${form}`)),
      ),
    command(`device get ${tv.deviceId} --verbose`),
    command('screen get nowhere --verbose'),
    command('api GET /v1/audit --paginate --verbose'),
    command(`api GET /v1/screens?search=${tv.apiKey} --verbose`),
    command('screen list --verbose', { SIGNAGE_TOKEN: wrong }),
    command(`screen list --verbose --token-file ${file}`, { SIGNAGE_TOKEN: '' }),
    command('screen list --verbose', { SIGNAGE_URL: `http://admin:${password}@127.0.0.1:1` }),
    command('screen list --verbose', { SIGNAGE_URL: 'http://127.0.0.1:1' }),
    command('login --token-stdin --verbose', {}, wrong),
    command('code status - --verbose', {}, 'ZZZZ2345'),
    command(`code claim ${claim} --verbose`),
    command(`pair ${screen.id} --wait-for registered --verbose --player-link-file ${playerLink}`),
    command(`token create --name Filed --role viewer --output-file ${join(folder, 'made')}`),
    command(`${serve} --log-level debug`, { ...stored, SIGNAGE_ADMIN_TOKEN: adminToken }),
    command(`${serve} --store memory`, { SIGNAGE_ADMIN_TOKEN: `${wrong}!` }),
    command(serve, { SIGNAGE_STORE: `mysql://root:${password}@127.0.0.1/x` }),
    command(serve, { SIGNAGE_STORE: `${database}?sslmode=${password}` }),
    command('store migrate --verbose', stored),
    command(`data check --data ${join(folder, 'nowhere')} --verbose`),
    command('simulate --verbose --duration 1s', { SIGNAGE_TOKEN: wrong }),
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
