import { writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { manager } from '../../support/service/management.ts';
import { idOf, someFile } from '../../support/service/media.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { cliOf } from '../run-cli.ts';

const mebibyte = 1024 * 1024;

/** Counts the bytes of request bodies that reach the proxy, and decides about each upload. */
interface Proxy {
  url: string;
  sent: number;
  close(): void;
}

/**
 * Starts a proxy in front of a service. `decide` gets the size of a body, and says whether to pass
 * it on, to pass it on and lose the answer, to cut the connection, or to answer 413.
 */
async function startProxy(
  service: TestService,
  decide: (bytes: number, count: number) => 'pass' | 'lose' | 'cut' | 413,
): Promise<Proxy> {
  let count = 0;
  const proxy = { url: '', sent: 0, close: () => void server.close() };
  const server: Server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const verdict = body.length === 0 ? 'pass' : decide(body.length, count++);
    if (verdict === 413) return void outgoing.writeHead(413).end('<h1>Too large</h1>');
    proxy.sent += body.length;
    if (verdict === 'cut') return void incoming.socket.destroy();
    const { method, headers, url } = incoming;
    const onward = request(`${service.url}${url}`, { method, headers }, (answer) => {
      if (verdict === 'lose') return void incoming.socket.destroy();
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
      return undefined;
    });
    onward.end(body);
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

let service: TestService;
let folder: string;
let proxy: Proxy;
let number = 0;
beforeAll(async () => {
  folder = await temporaryFolder();
  service = await startService({ store: join(folder, 'data') });
});
afterEach(() => proxy.close());

async function newFile(bytes: number): Promise<{ path: string; id: string }> {
  const file = someFile(++number, bytes);
  const path = join(folder, `${number}.svg`);
  await writeFile(path, file);
  return { path, id: idOf(file) };
}

const add = (path: string) => cliOf(proxy, adminToken)(['media', 'add', path, '-o', 'name']);
const bytesOf = async (id: string) => (await manager(service).get(`/v1/media/${id}`)).body.bytes;

it('a file arrives although the line breaks at every third part, before or after it arrived', async () => {
  const bytes = 10 * mebibyte;
  proxy = await startProxy(service, (_, count) =>
    count % 6 === 2 ? 'cut' : count % 6 === 5 ? 'lose' : 'pass',
  );
  const { path, id } = await newFile(bytes);
  expect(await add(path)).toMatchObject({ code: 0, stdout: `${id}\n` });
  expect(await bytesOf(id)).toBe(bytes);
}, 30_000);

it('a file arrives through a proxy that takes bodies of 600 KiB', async () => {
  proxy = await startProxy(service, (bytes) => (bytes > 600 * 1024 ? 413 : 'pass'));
  const { path, id } = await newFile(3 * mebibyte + 17);
  expect(await add(path)).toMatchObject({ code: 0 });
  expect(await bytesOf(id)).toBe(3 * mebibyte + 17);
  expect(proxy.sent).toBe(3 * mebibyte + 17);
});

it('names a proxy that takes no part at all', async () => {
  proxy = await startProxy(service, () => 413);
  const { path } = await newFile(2 * mebibyte);
  const { code, stderr } = await add(path);
  expect(code).not.toBe(0);
  expect(stderr).toContain('A proxy in front of the service refuses 512 KiB at once.');
});

it('an upload that broke off goes on where it stopped, with the next command', async () => {
  let isBroken = false;
  proxy = await startProxy(service, () => (isBroken ? 'cut' : 'pass'));
  const breaking = await startProxy(service, (_, count) => (count < 3 ? 'pass' : 'cut'));
  const { path, id } = await newFile(9 * mebibyte);
  const first = await cliOf(breaking, adminToken)(['media', 'add', path]);
  expect(first.code).toBe(7);
  breaking.close();
  expect(await add(path)).toMatchObject({ code: 0 });
  expect(await bytesOf(id)).toBe(9 * mebibyte);
  expect(proxy.sent).toBeLessThan(5 * mebibyte);
  proxy.sent = 0;
  isBroken = true;
  expect(await add(path), 'the service has it').toMatchObject({ code: 0 });
  expect(proxy.sent).toBe(0);
}, 30_000);
