import { once } from 'node:events';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { registerWhenOffered, type Shown, showClaim } from '../../cli/pair/claiming-tv.ts';
import { type CliRun, runCli } from '../../cli/run-cli.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, type BoundTv } from '../../support/service/service.ts';
import { signer } from '../../support/statements/statements.ts';
import { makeWorld, type PageWorld, playOn, type Scene } from './page-world.ts';

/** Commands that run until they are interrupted. */
const isEndless = (words: readonly string[]) =>
  ['serve', 'listen', 'board', 'tv', 'record', 'mcp'].includes(words[0] ?? '')
    ? !words.includes('--once') && !words.includes('--summary')
    : words.includes('--follow') || words.includes('--watch');

/** Commands whose exit code 9 is a result: something is not as it should be. */
const judges = /^(?:doctor|status|diff|playlist check|statement verify)\b/;

let stores = 0;
const onDemand = (async () => ({ items: [item()], validUntil: null })) as never;

function sceneOf([noun, verb, ...rest]: readonly string[]): Scene {
  const command = `${noun} ${verb}`;
  const isReplaced = rest.includes('--replace');
  if (command === 'venue create') return { without: 'venue' };
  if (command === 'venue delete' || rest.includes('')) return { without: 'screen' };
  if (command === 'screen delete' && rest.includes('--selector')) return { without: 'TVs' };
  if (command === 'playlist mirror')
    return { options: { objectStore: pathToFileURL(resolve('copies')).href } };
  if (noun === 'statement') return { options: { statementKeyFile: resolve('signing.key') } };
  if (noun === 'logout' || noun === 'context') return {};
  if (command === 'playlist refresh') return { options: { onDemand } };
  if (['data', 'store', 'audit'].includes(noun ?? ''))
    return { options: { store: resolve(`store-${++stores}`) } };
  if (command === 'screen create' || rest.includes('--create')) return { without: 'screen' };
  if (command === 'token create') return { without: 'tokens' };
  if (noun === 'tenant' && verb !== 'create') return { tenant: true };
  const needsNoTv =
    ['code', 'pair', 'ticket', 'tv'].includes(noun ?? '') || command === 'screen delete';
  const isFree = (needsNoTv && !isReplaced) || rest.includes('provisioning');
  return { without: isFree && !rest.includes('--force') ? 'TV' : undefined };
}

/** Values of the pages that are others here. */
interface Values {
  url: string;
  webhook: string;
  code: string;
  claim: string;
  login: string;
  port: number;
}

/** Commands that take longer are interrupted, and have failed. */
const patienceMs = 15_000;

function substituted(words: readonly string[], values: Values): string[] {
  const [noun] = words;
  return words.map((word, at) => {
    const before = words[at - 1];
    if (word === 'x') {
      if (before === '-f') return 'spring.yaml';
      if (before === '--key') return signer.verifierKey;
      if (before === '--timeout') return '5s';
      if (noun === 'data') return before === '--into' ? word : './signage-data';
      return noun === 'venue' ? word : noun === 'config' ? 'Lobby' : 'Lobby/Main';
    }
    if (word === 'x/x') return 'Lobby/Main';
    if (word === 'x.repaired') return './repaired';
    // A panel cannot reach the service of this machine.
    if (noun === 'player') return word;
    if (word === '4200' || word === '4300') return String(values.port);
    return word
      .replace('https://signage.example.com', values.url)
      .replace(/^0\.0\.0\.0(:\d+)?$/, (_, listen) =>
        listen ? `127.0.0.1:${values.port}` : '127.0.0.1',
      )
      .replace(/^0190a5b4-(?:…|[0-9a-f-]{27})$/, values.webhook)
      .replace(/^ABCD-?2345$/, values.code)
      .replace(/^K7Q-?2MX$/, values.claim)
      .replace(/^WDJB-MJHT$/, values.login)
      .replace('*.mp4', 'offer.mp4')
      .replace('summer.*.note', 'mine.note')
      .replace('*.jpg', 'picture.png')
      .replace('/var/lib/signage', './signage-data')
      .replace('/etc/signage/', '')
      .replace('file:///mnt/other-disk/signage', pathToFileURL(resolve('copies')).href);
  });
}

/** Returns a port of this machine that nobody uses. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

const site = 'version: 1\nvenues: [{ name: Hall }]\n';

function stdinOf(words: readonly string[], code: string): string {
  if (words.includes('--token-stdin')) return adminToken;
  if (words[0] === 'api') return '{"name":"Hall"}';
  if (words[0] === 'code' || words[0] === 'tv') return code;
  return words[0] === 'apply' ? site : '';
}

const backups = ['monday.dump.gz', 'monday.dump', 'signage-x.dump.gz', 'day.dump'];
const folders = ['./signage-data', './restored', 'copy', './trial', 'x.former'];

/** Makes the backup and the data folder that a command reads. */
async function makeData(words: readonly string[], env: Record<string, string>) {
  const made = [
    ...backups,
    'made.dump.gz',
    'x.dump.gz',
    'before-x.dump.gz',
    'trial.dump',
    'head.json',
    ...folders,
    'new',
    'repaired',
  ];
  for (const one of made) await rm(one, { recursive: true, force: true });
  const backup = await runCli(['data', 'backup', '--out', 'made.dump.gz', '--yes'], { env });
  if (backup.code !== 0) throw new Error(backup.stderr);
  for (const name of backups) if (words[1] !== 'backup') await copyFile('made.dump.gz', name);
  const restore = async (data: string) => {
    const argv = ['data', 'restore', 'made.dump.gz', '--data', data, '--webhooks', 'pause'];
    const { code, stderr } = await runCli(argv, { env });
    if (code !== 0) throw new Error(stderr);
  };
  const target = words.indexOf('--data');
  const named = folders.filter((one) => words.includes(one));
  const [data] = named;
  if (words.includes('--head') && data !== undefined) {
    await restore(data);
    await runCli(['audit', 'verify', '--data', data, '--save-head', 'head.json']);
    return;
  }
  for (const one of named)
    if (words[1] !== 'restore' || words[target + 1] !== one) await restore(one);
}

/** Runs a command line of a page in a world of its own. The folder is the current one. */
export async function runPageCommand(given: readonly string[], folder: string): Promise<CliRun> {
  const world = await makeWorld(sceneOf(given));
  try {
    return await runInWorld(given, folder, world);
  } finally {
    await world.service.close();
  }
}

async function runInWorld(
  given: readonly string[],
  folder: string,
  world: PageWorld,
): Promise<CliRun> {
  const { service, clock } = world;
  const config = join(folder, 'config');
  await rm(config, { recursive: true, force: true });
  const shown: Shown = await showClaim(service);
  const env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken, XDG_CONFIG_HOME: config };
  const screens = (await service.manage('GET', '/v1/screens')).body.items ?? [];
  const free = screens.find(({ deviceId }: { deviceId: string | null }) => deviceId === null);
  const { code } = free ? await service.code(free.id) : { code: 'ABCD2345' };
  const ask = { body: { user: 'alice', host: 'desk' } };
  const login = given[1] === 'approve' && (await service.send('POST', '/v1/logins', ask)).body.code;
  const ofTicket = { venueId: screens[0]?.venueId, uses: 1 };
  const ticket =
    given[0] === 'ticket' && (await service.manage('POST', '/v1/tickets', ofTicket)).body.id;
  const values = {
    url: service.url,
    webhook: ticket || world.webhook,
    login: login || '',
    claim: shown.claim,
    code,
    port: await freePort(),
  };
  const words = substituted(given, values);
  const [noun = ''] = words;
  const contexts = words.flatMap((word, at) =>
    word === '--context' || (noun === 'context' && word === 'use') || noun === 'logout'
      ? [words[at + 1] ?? 'default']
      : [],
  );
  for (const context of contexts)
    await runCli(['login', '--url', service.url, '--token-stdin', '--context', context], {
      env: { XDG_CONFIG_HOME: config },
      stdin: adminToken,
    });
  if (words.includes('signage-data/admin-token')) {
    await mkdir('signage-data', { recursive: true });
    await writeFile('signage-data/admin-token', adminToken, { mode: 0o600 });
  }
  if (['data', 'store', 'audit'].includes(noun)) await makeData(words, env);
  await writeFile('claims.csv', `venue,screen,claim\nLobby,Main,${shown.claim}\n`);
  await writeFile('codes.txt', `${code}\n`);
  await rm('tvs', { recursive: true, force: true });
  await rm('tv.json', { force: true });
  for (const out of [
    'links.csv',
    'links.html',
    'ticket.csv',
    'ci.token',
    'build-server.token',
    'backup.token',
    'player.url',
    'tv.ndjson',
    'codes.csv',
    'listen.json',
    'chat.json',
  ])
    await rm(out, { force: true });
  if (words.includes('backup.token') && !words.includes('--output-file'))
    await writeFile('backup.token', adminToken, { mode: 0o600 });
  if (words.includes('--once'))
    await runCli(['tv', '--code', code, '--state', 'tv.json', '--once'], { env, clock });
  if (noun === 'media') await runCli(['media', 'add', 'welcome.png'], { env, clock });
  if (words.includes('--summary')) await writeFile('tv.ndjson', '');
  const ofContext = contexts.length > 0 || noun === 'login' || noun === 'logout';
  const used: Record<string, string> = ofContext
    ? { XDG_CONFIG_HOME: config }
    : noun === 'serve'
      ? { XDG_CONFIG_HOME: config, SIGNAGE_ADMIN_TOKEN: adminToken }
      : env;
  const more: string[] = [];
  if (noun === 'serve') {
    more.push('--port', '0');
    if (!words.includes('--data') && !words.includes('--store')) more.push('--data', './served');
    await rm('./served', { recursive: true, force: true });
  }
  if (noun === 'board' || noun === 'listen')
    words.splice(0, words.length, ...words.filter((word) => word !== '--open'));
  if (
    !words.includes('--yes') &&
    (noun === 'logout' ||
      /^(?:delete|clear|withdraw|unset|revoke|prune|rotate|approve)$/.test(words[1] ?? ''))
  )
    more.push('--yes');
  if (
    noun === 'playlist' &&
    words.length > 2 &&
    (words.includes('--selector') || words.includes('--venue')) &&
    !words.includes('--yes') &&
    words[1] !== 'check'
  )
    more.push('--yes');
  let isOver = false;
  const playing = playOn(world, () => isOver).catch(() => {});
  try {
    return await runCli([...words, ...more], {
      env: used,
      ...(noun === 'serve' ? {} : { clock }),
      tty: words.includes('--watch'),
      stdin: words[1] === 'publish' ? await readFile('spring.yaml', 'utf8') : stdinOf(words, code),
      async during(io) {
        const late = setTimeout(() => io.signal('SIGINT'), patienceMs);
        late.unref();
        if (noun === 'pair') await pairTvs(world, io, words, shown);
        if (noun === 'code' && words.includes('--wait')) await service.register(code);
        if (!isEndless(words)) return;
        if (noun === 'serve') await io.until(/The service is ready|Try: /, 20_000).catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 250));
        for (let n = 0; n < 40; n++) {
          io.signal('SIGINT');
          await new Promise((resolve) => setTimeout(resolve, 250));
          if (isOver) return;
        }
      },
    });
  } finally {
    isOver = true;
    await playing;
  }
}

/** Types the code that a command shows into a TV, or lets a TV take its offer. */
async function pairTvs(
  { service, tvs }: PageWorld,
  io: { out(): string; err(): string; until(pattern: RegExp, ms?: number): Promise<string> },
  words: readonly string[],
  shown: Shown,
): Promise<void> {
  const play = async (body: { screenId: string; apiKey: string }) => {
    const { screenId } = body;
    await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items: [item()] });
    tvs.push({
      ...body,
      send: (method: string, what: string, sent = {}) =>
        service.send(method, `/devices/${screenId}/${what}`, { key: body.apiKey, ...sent }),
    } as BoundTv);
  };
  const register = async (code: string) =>
    play((await service.register(code.replace('-', ''))).body);
  if (words.includes('--tv') || words.includes('--claims-file')) {
    const body = await registerWhenOffered(service, shown).catch(() => undefined);
    if (body) await play(body);
    return;
  }
  const code = /\b[A-HJKMNP-Z2-9]{4}-?[A-HJKMNP-Z2-9]{4}\b/;
  await io.until(code, 10_000).catch(() => '');
  const found = code.exec(io.out()) ?? code.exec(io.err());
  if (found) await register(found[0]);
}

/** Whether a run did what the page says. */
export function isDone(words: readonly string[], { code }: CliRun): boolean {
  if (code === 0) return true;
  if (code === 9 && judges.test(words.join(' '))) return true;
  return code === 130 && isEndless(words);
}
