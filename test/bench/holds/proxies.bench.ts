// Held TVs behind the proxies of docs/deployment, which are reloaded meanwhile. Measures the time
// until all TVs know of a publication, and counts the events that are missing or double.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freePort } from '../../support/network/free-port.ts';
import { haproxyPath, nginxPath } from '../../support/network/proxies.ts';
import { impression, item } from '../../support/service/content.ts';
import { type BoundTv, fillWithFleet } from '../fleet/fleet.ts';
import { startServed } from '../served.ts';

const token = `mak_${'BehindProxies'.repeat(3)}`;
const held = 2_000;
/** The limits of nginx.conf are for 200 TVs behind one address. */
const tvsPerAddress = 200;
const reloads = 3;
const batchEveryMs = 10_000;
const waitSeconds = 120;

interface Tally {
  /** TVs that have learnt of the version. */
  told: Set<string>;
  acknowledged: number;
  /** Requests that failed, by status or error code. A TV repeats them. */
  failures: Record<string, number>;
  isOver: boolean;
}

/** Sends a request of a TV. Resolves with its body, or with `undefined` if it must be repeated. */
async function send(
  { tally, agent, url }: { tally: Tally; agent: Agent; url: string },
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<string | undefined> {
  const method = body === undefined ? 'GET' : 'POST';
  const failure = await new Promise<string | { body: string }>((resolve) => {
    const sent = request(`${url}${path}`, { agent, method, headers }, async (answer) => {
      const received = await text(answer).catch(() => undefined);
      const isGood = answer.statusCode === 200 || answer.statusCode === 202;
      resolve(isGood && received !== undefined ? { body: received } : `${answer.statusCode}`);
    });
    sent.on('error', ({ code = 'error' }: NodeJS.ErrnoException) => resolve(code));
    sent.end(body);
  });
  if (typeof failure !== 'string') return failure.body;
  if (!tally.isOver) tally.failures[failure] = (tally.failures[failure] ?? 0) + 1;
  await sleep(500 + Math.random() * 500);
  return undefined;
}

type Line = Parameters<typeof send>[0];

async function hold(line: Line, { screenId, apiKey }: BoundTv, version: () => number) {
  const headers = { authorization: `Bearer ${apiKey}` };
  for (let after = ''; !line.tally.isOver; ) {
    const query = `?waitSeconds=${waitSeconds}${after && `&after=${after}`}`;
    const body = await send(line, `/devices/${screenId}/changes${query}`, headers);
    if (body === undefined) continue;
    const { cursor, playlist } = JSON.parse(body);
    after = cursor;
    if (playlist.version === version()) line.tally.told.add(screenId);
  }
}

async function report(line: Line, { screenId, apiKey }: BoundTv) {
  await sleep(Math.random() * batchEveryMs);
  while (!line.tally.isOver) {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    const batch = JSON.stringify([impression({ timestamp: Math.floor(Date.now() / 1000) })]);
    while ((await send(line, `/devices/${screenId}/events`, headers, batch)) === undefined);
    line.tally.acknowledged++;
    await sleep(batchEveryMs);
  }
}

interface Proxy {
  process: ChildProcess;
  url: string;
  reload: () => void;
}

async function startNginx(target: string): Promise<Proxy> {
  const folder = await temporaryFolder();
  const port = await freePort();
  const file = (name: string) =>
    readFile(new URL(`../../../docs/deployment/${name}`, import.meta.url), 'utf8');
  const upstream = (await file('upstream.conf'))
    .replace('127.0.0.1:4101', new URL(target).host)
    .replace(/.*127\.0\.0\.1:4102.*\n/, '');
  const site = (await file('nginx.conf')).replace('listen 80;', `listen 127.0.0.1:${port};`);
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = kinds.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
  const config = join(folder, 'nginx.conf');
  await writeFile(
    config,
    `daemon off; pid ${folder}/nginx.pid; error_log stderr; worker_rlimit_nofile 20000;
    events { worker_connections ${4 * held}; }
    http { access_log off; ${temporary} ${upstream} ${site} }`,
  );
  const args = ['-p', folder, '-c', config, '-e', 'stderr'];
  const process = spawn(nginxPath as string, args, { stdio: 'ignore' });
  return { process, url: `http://127.0.0.1:${port}`, reload: () => process.kill('SIGHUP') };
}

async function startHaproxy(target: string): Promise<Proxy> {
  const folder = await temporaryFolder();
  const port = await freePort();
  const config = join(folder, 'haproxy.cfg');
  await writeFile(
    config,
    `global
  maxconn ${4 * held}
defaults
  mode http
  timeout connect 5s
  timeout client 130s
  timeout server 130s
  option forwardfor
listen signage
  bind 127.0.0.1:${port}
  server one ${new URL(target).host}
`,
  );
  const args = ['-W', '-db', '-f', config];
  const process = spawn(haproxyPath as string, args, { stdio: 'ignore' });
  return { process, url: `http://127.0.0.1:${port}`, reload: () => process.kill('SIGUSR2') };
}

/** A call publishes on at most 1,000 screens. */
async function publishOn(management: ManagementClient, tvs: readonly BoundTv[]): Promise<void> {
  const items = [item()] as never;
  for (let from = 0; from < tvs.length; from += 1000) {
    const screenIds = tvs.slice(from, from + 1000).map(({ screenId }) => screenId);
    await management.call('publishMany', { body: { screenIds, action: 'publish', items } });
  }
}

const kinds = [
  { name: 'nginx', start: startNginx, isInstalled: nginxPath !== undefined },
  { name: 'HAProxy', start: startHaproxy, isInstalled: haproxyPath !== undefined },
].filter(({ isInstalled }) => isInstalled);

it.each(kinds)(`${held} held TVs behind $name, which is reloaded`, async ({ name, start }) => {
  const data = await temporaryFolder();
  const tvs = await fillWithFleet(data, held);
  const served = await startServed(data, token, { trustProxy: ['127.0.0.1'] });
  const management = new ManagementClient({ url: served.url, token });
  const proxy = await start(served.url);
  const tally: Tally = { told: new Set(), acknowledged: 0, failures: {}, isOver: false };
  let version = 1;
  const agents = Array.from(
    { length: Math.ceil(held / tvsPerAddress) },
    (_, n) => new Agent({ keepAlive: true, localAddress: `127.0.1.${n + 1}` }),
  );
  try {
    const working = tvs.flatMap((tv, n) => {
      const agent = agents[Math.floor(n / tvsPerAddress)] as Agent;
      const line = { tally, agent, url: proxy.url };
      return [hold(line, tv, () => version), report(line, tv)];
    });
    const toldMs: number[] = [];
    await expect.poll(() => tally.told.size, { timeout: 60_000 }).toBe(held);
    for (let n = 0; n <= reloads; n++) {
      await sleep(10_000);
      if (n > 0) proxy.reload();
      tally.told.clear();
      version++;
      const startMs = performance.now();
      await publishOn(management, tvs);
      while (tally.told.size < held && performance.now() - startMs < 30_000) await sleep(20);
      toldMs.push(performance.now() - startMs);
    }
    tally.isOver = true;
    await sleep(2 * batchEveryMs);
    const query = { groupBy: 'screen' };
    const { items } = await management.call('reportImpressions', { query });
    const counted = items.reduce((sum, { impressions }) => sum + impressions, 0);
    console.log(
      `${held} TVs behind ${name}: all know of a publication after ${toldMs.map((ms) => ms.toFixed(0)).join(', ')} ms, ` +
        `of which the last ${reloads} came with a reload; ${tally.acknowledged} batches, ${counted - tally.acknowledged} too many or missing (bar: 0); ` +
        `repeated requests ${JSON.stringify(tally.failures)}`,
    );
    expect(counted).toBe(tally.acknowledged);
    void Promise.allSettled(working);
  } finally {
    proxy.process.kill('SIGTERM');
    for (const agent of agents) agent.destroy();
    await served.stop();
  }
});
