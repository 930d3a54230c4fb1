// Media, playlists and receivers of webhooks under hostile load: TVs of others must not notice.
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { partKey } from '../../src/domain/media/media-keys.ts';
import { hostileFiles } from '../faults/examination/hostile-files.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { startLocally } from '../support/network/local-server.ts';
import { adminToken as token } from '../support/service/management.ts';
import { idOf, someFile, upload } from '../support/service/media.ts';
import { managerAt } from '../support/service/service.ts';
import { startAskingTvs } from './asking/asking-tvs.ts';
import { median, share, summary, timed } from './measure.ts';
import { type Served, startServed } from './served.ts';

const pairs = 5;
const secondsEach = 6;
const tenantId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';
const mebibyte = 1024 * 1024;

/** Asks for a file from an address of this machine, and reads nothing of it. */
const ask = (url: string, localAddress: string) =>
  request(url, { localAddress, agent: false })
    // Without a listener, Node reads the answer.
    .on('response', () => {})
    .on('error', () => {})
    .end();

async function download(url: string, localAddress: string): Promise<void> {
  const [answer] = (await once(ask(url, localAddress), 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  answer.resume();
  await once(answer, 'end');
}

it('400 readers of one address that read nothing', async () => {
  const file = someFile(1, 24 * mebibyte);
  const served = await startServed(await temporaryFolder(), token);
  const admin = managerAt(served.url, token);
  const url = served.url + (await upload(admin, file)).body.url;
  const downloads = async () => {
    for (let n = 0; n < 5; n++) await download(url, '127.0.0.3');
  };
  await downloads();
  const { residentMB } = await served.usage();
  const shares: number[] = [];
  let most = 0;
  for (let pair = 0; pair < pairs; pair++) {
    const alone = (await timed(downloads)).ms;
    const idle = Array.from({ length: 400 }, () => ask(url, '127.0.0.2'));
    await sleep(1000);
    const beside = (await timed(downloads)).ms;
    most = Math.max(most, (await served.usage()).residentMB);
    for (const one of idle) one.destroy();
    await sleep(1000);
    shares.push(alone / beside);
  }
  let after = Number.NaN;
  const start = performance.now();
  do {
    await sleep(1000);
    await downloads();
    after = (await served.usage()).residentMB;
  } while (after > residentMB + 20 && performance.now() - start < 60_000);
  console.log(
    `400 idle readers: downloads of others at ${summary(shares, 2)} of their speed alone (bar: 0.8), ` +
      `+${(most - residentMB).toFixed(0)} MB, +${(after - residentMB).toFixed(0)} MB after ${((performance.now() - start) / 1000).toFixed(0)} s (bar: 60 s)`,
  );
  await served.stop();
  expect(median(shares)).toBeGreaterThan(0.8);
});

/** Compares the latencies of another tenant's TVs with and without the load, in turn. */
async function compare(title: string, served: Served, load: (isOver: () => boolean) => unknown) {
  const tvs = await startAskingTvs(served.url, token);
  const watch = async () => {
    await tvs.taken();
    await sleep(secondsEach * 1000);
    return tvs.taken();
  };
  await served.resetHolds();
  const all = { alone: [] as number[], beside: [] as number[] };
  for (let pair = 0; pair < 3; pair++) {
    all.alone.push(...(await watch()));
    let isOver = false;
    const running = load(() => isOver);
    all.beside.push(...(await watch()));
    isOver = true;
    await running;
  }
  await tvs.stop();
  const { longestOwnHoldMs } = await served.usage();
  const text = (values: number[]) =>
    `p50 ${share(values, 0.5).toFixed(1)}, p99 ${share(values, 0.99).toFixed(0)} ms`;
  console.log(
    `${title}: TVs of another tenant ${text(all.beside)}; without ${text(all.alone)}; longest hold ${longestOwnHoldMs.toFixed(0)} ms`,
  );
}

it('a token that asks for an upload of 4,000 parts in a loop', async () => {
  const data = await temporaryFolder();
  const served = await startServed(data, token);
  const admin = managerAt(served.url, token);
  const own = (await admin.get('/v1/tenants')).body.items[0]?.id ?? tenantId;
  const id = idOf(someFile(1));
  const length = 256 * 1024;
  const partOf = (n: number) => ({ id, size: 4001 * length, offset: n * length, length });
  const folder = join(data, 'media', partKey(own, partOf(0)), '..');
  await mkdir(folder, { recursive: true });
  // Nothing reads the parts, so they are empty.
  for (let n = 0; n < 4000; n++) await writeFile(join(data, 'media', partKey(own, partOf(n))), '');
  let asked = 0;
  await compare('GET upload of 4,000 parts, 4 at a time', served, async (isOver) => {
    const loop = async () => {
      while (!isOver()) {
        const answer = await admin.in(own).get(`/v1/media/${id}/upload`);
        expect(answer.body).toEqual({ received: 4000 * length });
        asked++;
      }
    };
    await Promise.all([loop(), loop(), loop(), loop()]);
  });
  console.log(`${asked} answers with 4,000 parts`);
  await served.stop();
});

it('uploads of hostile files, 4 at a time', async () => {
  const served = await startServed(await temporaryFolder(), token);
  const admin = managerAt(served.url, token);
  const own = (await admin.get('/v1/tenants')).body.items[0]?.id ?? tenantId;
  const files = hostileFiles(1, 20_000);
  const statuses: Record<string, number> = {};
  await compare('Uploads of hostile files', served, async (isOver) => {
    const loop = async () => {
      while (!isOver()) {
        const { value } = await files.next();
        if (!value) return;
        const { status } = await upload(admin.in(own), value.file);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    };
    await Promise.all([loop(), loop(), loop(), loop()]);
  });
  console.log(`Hostile files: ${JSON.stringify(statuses)}`);
  await served.stop();
});

it('600 different playlists of 1 MB on one screen', async () => {
  const served = await startServed(await temporaryFolder(), token);
  const admin = managerAt(served.url, token);
  const own = admin.in((await admin.get('/v1/tenants')).body.items[0]?.id ?? tenantId);
  const venue = await own.post('/v1/venues', { name: 'Flooded' });
  const screen = await own.post('/v1/screens', { venueId: venue.body.id, name: 'One' });
  const path = `/v1/screens/${screen.body.id}/playlist`;
  const items = (n: number) =>
    Array.from({ length: 500 }, (_, place) => ({
      creativeId: crypto.randomUUID(),
      creativeUrl: `https://media.example.com/${n}/${place}/${'x'.repeat(1850)}.png`,
      creativeType: 'image',
      duration: 15,
    }));
  const { residentMB } = await served.usage();
  let published = 0;
  let most = 0;
  await compare('Playlists of 1 MB on one screen', served, async (isOver) => {
    while (published < 600 && !isOver()) {
      expect((await own.put(path, { items: items(published) })).status).toBe(200);
      published++;
      most = Math.max(most, (await served.usage()).residentMB);
    }
  });
  for (; published < 600; published++)
    expect((await own.put(path, { items: items(published) })).status).toBe(200);
  most = Math.max(most, (await served.usage()).residentMB);
  await sleep(60_000);
  const after = (await served.usage()).residentMB;
  console.log(
    `${published} different playlists of 1 MB: at most +${(most - residentMB).toFixed(0)} MB, +${(after - residentMB).toFixed(0)} MB a minute later`,
  );
  await served.stop();
});

/** Starts a receiver of webhooks that answers `100 Continue` without end. */
async function startFlooding() {
  const block = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(64));
  let asked = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      asked++;
      const flood = () => {
        while (socket.writable && socket.write(block));
        if (socket.writable) socket.once('drain', flood);
      };
      flood();
    });
  });
  return { ...(await startLocally(server)), asked: () => asked };
}

it('receivers of webhooks that answer 100 Continue without end', async () => {
  const served = await startServed(await temporaryFolder(), token, {
    webhookAllow: ['127.0.0.1'],
  });
  const admin = managerAt(served.url, token);
  const own = admin.in((await admin.get('/v1/tenants')).body.items[0]?.id ?? tenantId);
  const receiver = await startFlooding();
  const { id } = (await own.post('/v1/webhooks', { name: 'Flood', url: receiver.url })).body;
  await compare('Receivers that flood 100 Continue', served, async (isOver) => {
    const loop = async () => {
      while (!isOver()) await own.post(`/v1/webhooks/${id}/test`, {});
    };
    await Promise.all([loop(), loop(), loop(), loop()]);
  });
  console.log(`${receiver.asked()} deliveries were answered by floods`);
  expect(receiver.asked()).toBeGreaterThan(10);
  await served.stop();
});
