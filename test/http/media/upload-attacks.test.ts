// Uploads that stall, break off, lie about their length, or outlive their token.
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { SignageError } from '../../../src/domain/error.ts';
import type { RequestContext, ServedRequest } from '../../../src/http/request/request-context.ts';
import { uploadBody } from '../../../src/http/request/upload-body.ts';
import { knownFiles } from '../../faults/examination/hostile-files.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { expectProblem, type Manager, manager } from '../../support/service/management.ts';
import { idOf, someFile, upload } from '../../support/service/media.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { rawClient, startListener } from '../../support/tv/raw-client.ts';

let folder: string;
let service: TestService;
let admin: Manager;
let count = 1000;
const fresh = (bytes = 100_000) => someFile(++count, bytes);

beforeAll(async () => {
  folder = join(await temporaryFolder(), 'data');
  service = await startService({ store: folder, mediaLimitMiB: 1 });
  admin = manager(service);
});

const files = () => readdirSync(join(folder, 'media'), { recursive: true }).map(String);

function head(file: Uint8Array, lines: string[] = [`Content-Length: ${file.length}`], by = admin) {
  const all = [
    `PUT /v1/media/${idOf(file)} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${by.token}`,
    ...lines,
  ];
  return `${all.join('\r\n')}\r\n\r\n`;
}

/** Sends a request head and a part of the file. */
async function begin(
  file: Uint8Array,
  bytes: number,
  ...options: [lines?: string[], by?: Manager]
) {
  const client = await rawClient(service.url);
  client.socket.write(head(file, ...options));
  client.socket.write(file.subarray(0, bytes));
  return client;
}

/** Time that the serving thread, which also sends the file here, may work during an upload. */
const maxActiveMs = 400;

it.each(knownFiles().map(({ kind, file }) => [kind, file] as const))(
  'judges uploads without work of the serving thread: %s',
  async (_, file) => {
    let answer: Awaited<ReturnType<typeof upload>>;
    let activeMs: number;
    let tries = 0;
    // A busy machine may interrupt one try.
    do {
      const large = manager(await startService({ store: await temporaryFolder() }));
      // Starts the thread.
      await upload(large, fresh());
      const before = performance.eventLoopUtilization();
      answer = await upload(large, file);
      activeMs = performance.eventLoopUtilization(before).active;
      tries++;
    } while (activeMs >= maxActiveMs && tries < 3);
    expect(activeMs).toBeLessThan(maxActiveMs);
    if (file.toString('latin1', 4, 8) === 'ftyp') expect(answer.status).toBe(201);
    else expectProblem(answer, 'media_not_accepted');
  },
);

describe('PUT /v1/media/:id', () => {
  it('keeps nothing of a file whose connection breaks off', async () => {
    const file = fresh();
    const client = await begin(file, 70_000);
    await expect.poll(() => files().join()).toMatch(/incomplete.[\da-f]{8}-/);
    client.socket.destroy();
    await expect.poll(() => files().join()).not.toMatch(/incomplete.[\da-f]{8}-/);
    expectProblem(await admin.get(`/v1/media/${idOf(file)}`), 'media_not_found');
  });

  it('401 if the token is deleted while the file arrives, and keeps no record', async () => {
    const { id, token } = await admin.newToken({ name: 'Leaving', role: 'operator' });
    const file = fresh();
    const client = await begin(file, 70_000, undefined, manager(service, token));
    await expect.poll(() => files().join()).toMatch(/incomplete.[\da-f]{8}-/);
    await admin.delete(`/v1/tokens/${id}`);
    client.socket.write(file.subarray(70_000));
    expect(await client.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 401 /);
    expectProblem(await admin.get(`/v1/media/${idOf(file)}`), 'media_not_found');
  });

  it('sends 100 Continue only for a file that it would take', async () => {
    const file = fresh();
    const waiting = [`Content-Length: ${file.length}`, 'Expect: 100-continue'];
    const client = await begin(file, 0, waiting);
    await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    client.socket.write(file);
    await client.until(/HTTP\/1\.1 201 /);
    const large = await begin(fresh(), 0, ['Content-Length: 1048577', 'Expect: 100-continue']);
    expect(await large.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it.each([
    ['400 without a length', ['Transfer-Encoding: chunked'], 400],
    ['413 for a length beyond the limit, before the body', ['Content-Length: 99999999999999'], 413],
    ['400 for a length that is no number', ['Content-Length: 1e5'], 400],
    ['400 for two lengths', ['Content-Length: 5', 'Content-Length: 6'], 400],
  ])('%s', async (_, lines, status) => {
    const client = await begin(fresh(), 0, lines);
    expect(await client.until(/\r\n\r\n/)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it('replies to a file of another type before all of it has arrived', async () => {
    const client = await begin(Buffer.alloc(500_000, 'x'), 70_000);
    expect(await client.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 415 /);
  });
});

describe('a disk that becomes full during an upload', () => {
  it('503, and nothing is left', async (context) => {
    const disk = await temporaryFolder();
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=70m', 'tmpfs', disk], { stdio: 'ignore' });
    } catch {
      return context.skip('Only root may mount a small disk.');
    }
    onTestFinished(() => void execFileSync('umount', ['-l', disk]));
    const full = await startService({ store: 'memory:', media: join(disk, 'media') });
    const file = fresh(4 * 1024 * 1024);
    const client = await rawClient(full.url);
    client.socket.write(head(file, undefined, manager(full)));
    client.socket.write(file.subarray(0, 100_000));
    const names = () =>
      readdirSync(join(disk, 'media'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name);
    await expect.poll(names).toHaveLength(1);
    const [name = ''] = names();
    await expect.poll(() => statSync(join(disk, 'media/incomplete', name)).size).toBeGreaterThan(0);
    execFileSync('sh', ['-c', `cat /dev/zero > ${disk}/filler || true`], { stdio: 'ignore' });
    client.socket.write(file.subarray(100_000));
    expect(await client.until(/ENOSPC/)).toMatch(/^HTTP\/1\.1 503 /);
    await expect.poll(names).toEqual([]);
    await rm(`${disk}/filler`);
    expect((await upload(manager(full), file)).status).toBe(201);
    await full.close();
  });
});

describe('the body of an upload', () => {
  const limits = { requestTimeout: 100, headersTimeout: 100, connectionsCheckingInterval: 10 };

  /** Starts a listener that reads uploads with a limit for pauses. */
  const startReader = (pauseMs: number) =>
    startListener({
      limits,
      async fetch(_, { incoming }) {
        const header = (name: string) => incoming.headers[name]?.toString();
        const request = { header, incoming: incoming as ServedRequest } as RequestContext;
        let length = 0;
        try {
          for await (const chunk of uploadBody(request, pauseMs).read()) length += chunk.length;
          return new Response(`${length} bytes`);
        } catch (error) {
          return new Response((error as SignageError).code, { status: 408 });
        }
      },
    });

  it('may take longer than other requests', async () => {
    const { url } = await startReader(10_000);
    const client = await rawClient(url);
    client.socket.write('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n');
    for (let sent = 0; sent < 20_000; sent += 2_000) {
      client.socket.write('x'.repeat(2_000));
      await sleep(30);
    }
    expect(await client.until(/bytes/)).toContain('20000 bytes');
  });

  it('408 after a pause', async () => {
    const { url } = await startReader(50);
    const client = await rawClient(url);
    client.socket.write(`PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\nabc`);
    expect(await client.until(/request_timeout/)).toMatch(/^HTTP\/1\.1 408 /);
  });
});
