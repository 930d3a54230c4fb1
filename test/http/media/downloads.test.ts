// Many clients that ask for files, and read slowly or not at all (docs/protocol.md §5.14).
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { expectProblem, manager } from '../../support/service/management.ts';
import { someFile, upload } from '../../support/service/media.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const file = someFile(1, 24 * 1024 * 1024);
let service: TestService;
let url: string;
const readers = new Set<{ destroy(): void }>();

beforeAll(async () => {
  service = await startService();
  url = service.url + (await upload(manager(service), file)).body.url;
});
afterEach(() => {
  for (const reader of readers) reader.destroy();
  readers.clear();
});

/** Asks for the file from an address of this machine. */
function ask(localAddress: string) {
  const sent = request(url, { localAddress, agent: false }).on('error', () => {});
  readers.add(sent);
  return sent.end();
}

/** Reads the whole file from an address. Returns the status and the number of bytes. */
async function download(localAddress: string): Promise<[status: number, bytes: number]> {
  const [answer] = (await once(ask(localAddress), 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of answer) bytes += chunk.length;
  return [answer.statusCode ?? 0, bytes];
}

it('serves others at once while 400 clients of one address read nothing', async () => {
  const statuses: (number | undefined)[] = [];
  for (let n = 0; n < 400; n++)
    ask('127.0.0.2').on('response', ({ statusCode }) => statuses.push(statusCode));
  await expect.poll(() => statuses.filter((status) => status === 200).length).toBe(16);
  for (let n = 0; n < 5; n++) expect(await download('127.0.0.3')).toEqual([200, file.length]);
  // Those of the address itself that would make too long a line are told to come back.
  await expect.poll(() => statuses.filter((status) => status === 503).length).toBe(400 - 16 - 256);
  expect(statuses.filter((status) => status === 200)).toHaveLength(16);
});

it('60 TVs behind one address all get the file, in turn', async () => {
  const all = await Promise.all(Array.from({ length: 60 }, () => download('127.0.0.4')));
  expect(all).toEqual(Array.from({ length: 60 }, () => [200, file.length]));
}, 60_000);

it('cuts clients that read nothing for 30 seconds, and frees their places', async () => {
  const idle = Array.from({ length: 16 }, () => ask('127.0.0.5'));
  const answers = await Promise.all(
    idle.map(async (one) => ((await once(one, 'response')) as [IncomingMessage])[0]),
  );
  let ended = 0;
  for (const answer of answers) answer.on('close', () => ended++).on('error', () => {});
  const next = ask('127.0.0.5');
  let isServed = false;
  next.on('response', (answer: IncomingMessage) => {
    isServed = true;
    answer.resume();
  });
  await sleep(300);
  expect(isServed).toBe(false);
  await expect
    .poll(async () => {
      await service.clock.advance(31_000);
      return isServed;
    })
    .toBe(true);
  for (const answer of answers) answer.resume();
  await expect.poll(() => ended, { timeout: 5000 }).toBe(16);
});

it('lets a client read slowly', async () => {
  const [answer] = (await once(ask('127.0.0.6'), 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    // Far more than the system keeps between two reads arrives in each 25 seconds.
    if (bytes % (1 << 22) < chunk.length) await service.clock.advance(5000);
  }
  expect(bytes).toBe(file.length);
});

it('frees the place of a client that leaves while it waits', async () => {
  const idle = Array.from({ length: 16 }, () => ask('127.0.0.7'));
  await Promise.all(idle.map((one) => once(one, 'response')));
  const waiting = Array.from({ length: 256 }, () => ask('127.0.0.7'));
  await sleep(300);
  const refused = await fetchStatus('127.0.0.7');
  expect(refused).toBe(503);
  for (const one of waiting) one.destroy();
  await sleep(300);
  const next = download('127.0.0.7');
  for (const one of idle) one.destroy();
  expect(await next).toEqual([200, file.length]);
});

async function fetchStatus(localAddress: string): Promise<number | undefined> {
  const [answer] = (await once(ask(localAddress), 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

it('404 for a file that is not there, without a place', async () => {
  const missing = await service.send('GET', `/media/${'0'.repeat(64)}.svg`);
  expectProblem(missing, 'not_found');
});
