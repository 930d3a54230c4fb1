// Every media store: a folder, and buckets of S3 (src/media/media-store.ts).
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readlinkSync, statfsSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
// @ts-expect-error: it has no types
import S3rver from 's3rver';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import type { ByteRange } from '../../src/domain/media/media.ts';
import type { MediaStore } from '../../src/media/media-store.ts';
import { openMediaStore } from '../../src/media/open-media-store.ts';
import { mayMount, smallDisk } from '../support/disk/small-disk.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import {
  type S3Server,
  s3Bucket,
  s3Credentials,
  startS3Server,
} from '../support/network/s3-server.ts';
import { idOf, someFile } from '../support/service/media.ts';

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

async function open(location: string, aws = {}): Promise<MediaStore> {
  const store = await openMediaStore(location, systemClock, aws);
  closings.push(() => store.close());
  return store;
}

async function openS3(server: S3Server): Promise<MediaStore> {
  return open(`s3://${s3Bucket}/some/prefix?endpoint=${server.endpoint}`, s3Credentials);
}

/** Ignores signatures. It is an independent implementation with its own errors and XML. */
async function openS3rver(): Promise<MediaStore> {
  const directory = await mkdtemp(join(await temporaryFolder(), 's3rver-'));
  const configureBuckets = [{ name: s3Bucket }];
  const options = { address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets };
  const server = new S3rver(options);
  const { port } = await server.run();
  closings.push(() => server.close());
  const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  return open(`s3://${s3Bucket}/prefix?endpoint=http://127.0.0.1:${port}`, keys);
}

const file = someFile(1, 300_000);
const id = idOf(file);
const partKey = `parts/tenant/${id}-300000/0-300000`;

/** Yields a file in chunks, and then throws `error`, if there is one. */
async function* inChunks(bytes: Buffer, error?: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 70_000) yield bytes.subarray(at, at + 70_000);
  if (error) throw error;
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function read(store: MediaStore, key: string, range?: ByteRange) {
  const content = await store.open(key, range);
  return content && Buffer.concat(await allOf(content));
}

/** `isAtomic`: whether an upload that breaks off leaves nothing, as in S3. */
describe.each([
  ['a folder', true, async () => open(await temporaryFolder())],
  [
    'a bucket with pages of 3 keys, which checks signatures',
    true,
    async () => openS3(Object.assign(await startS3Server(), { pageSize: 3 })),
  ],
  ['a bucket of s3rver', false, openS3rver],
])('a media store: %s', (_, isAtomic, openStore) => {
  let store: MediaStore;
  beforeEach(async () => {
    store = await openStore();
  });

  it('returns the bytes of a file and of a part, whole and in ranges', async () => {
    for (const key of [id, partKey]) {
      await store.put(key, file.length, inChunks(file));
      expect((await read(store, key))?.equals(file)).toBe(true);
      for (const [start, end] of [
        [0, 9],
        [5, 99_999],
        [0, 299_999],
      ] as const)
        expect(
          (await read(store, key, { start, end }))?.equals(file.subarray(start, end + 1)),
        ).toBe(true);
      expect(await store.find(key)).toMatchObject({ key, bytes: 300_000 });
    }
  });

  it('has no file of an unknown key, and no range behind the end', async () => {
    expect([await read(store, id), await store.find(id)]).toEqual([undefined, undefined]);
    await store.delete(id);
    await store.put(id, file.length, inChunks(file));
    expect(await read(store, id, { start: 299_990, end: 300_000 })).toBeUndefined();
    expect(await read(store, id, { start: 300_000, end: 300_001 })).toBeUndefined();
  });

  it.runIf(isAtomic)(
    'stores nothing if the content throws, even at its end, and passes the error on',
    async () => {
      const error = new Error('spoilt');
      for (const bytes of [file, file.subarray(0, 100), file.subarray(0, 100_000)])
        await expect(store.put(id, bytes.length, inChunks(bytes, error))).rejects.toBe(error);
      expect(await store.find(id)).toBeUndefined();
      await store.put(id, file.length, inChunks(file));
      await expect(store.put(id, file.length, inChunks(file, error))).rejects.toBe(error);
      expect((await read(store, id))?.equals(file)).toBe(true);
    },
  );

  it('lists all keys below a folder, and deletes them', async () => {
    const keys = [1, 2, 3, 4, 5, 6, 7].map((n) => `parts/tenant/${id}-700000/${n}-1`);
    for (const key of [...keys, `parts/other/${id}-9/0-9`, id])
      await store.put(key, file.length, inChunks(file));
    expect((await allOf(store.list('parts/tenant/'))).sort()).toEqual(keys);
    expect(await allOf(store.list('parts/'))).toHaveLength(8);
    for (const key of keys) await store.delete(key);
    expect(await allOf(store.list('parts/tenant/'))).toEqual([]);
    expect(await store.find(id)).toBeDefined();
  });

  it('lists one upload alone, the names of folders, and ends with an aborted signal', async () => {
    const put = (key: string) => store.put(key, 10, inChunks(file.subarray(0, 10)));
    for (const key of ['one-9/0-9', 'one-9/9-9', 'one-7/0-7', 'other-9/0-9'])
      await put(`parts/tenant/${key}`);
    await put('parts/neighbour/x-1/0-1');
    const list = async (prefix: string) => (await allOf(store.list(prefix))).sort();
    expect(await list('parts/tenant/one-9/')).toEqual([
      'parts/tenant/one-9/0-9',
      'parts/tenant/one-9/9-9',
    ]);
    expect(await list('parts/tenant/one-')).toHaveLength(3);
    expect(await list('parts/nobody/one-')).toEqual([]);
    const folders = async (folder: string) => (await allOf(store.folders(folder))).sort();
    expect(await folders('parts/tenant/')).toEqual(['one-7', 'one-9', 'other-9']);
    expect(await folders('parts/nobody/')).toEqual([]);
    const gone = new Error('gone');
    await expect(allOf(store.list('parts/', AbortSignal.abort(gone)))).rejects.toBe(gone);
    await expect(allOf(store.folders('parts/', AbortSignal.abort(gone)))).rejects.toBe(gone);
  });

  it('goes on after a reader that has left, at any chunk', async () => {
    await store.put(id, file.length, inChunks(file));
    for (const chunks of [0, 1, 2]) {
      const reader = (await store.open(id))?.[Symbol.asyncIterator]();
      for (let n = 0; n < chunks; n++) await reader?.next();
      await reader?.return?.();
    }
    expect((await read(store, id))?.equals(file)).toBe(true);
  });
});

describe('a media store in a folder', () => {
  it.runIf(process.platform === 'linux')(
    'closes the file of a reader that has read nothing',
    async () => {
      const store = await open(await temporaryFolder());
      await store.put(id, file.length, inChunks(file));
      await (await store.open(id))?.[Symbol.asyncIterator]().return?.();
      const openPaths = readdirSync('/proc/self/fd').map((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`);
        } catch {
          return '';
        }
      });
      expect(openPaths.filter((path) => path.endsWith(id))).toEqual([]);
    },
  );
});

describe('a media store in a folder that other uploads change', () => {
  it('lists and stores parts while other uploads come and go', async () => {
    const store = await open(await temporaryFolder());
    const put = (key: string) => store.put(key, 10, inChunks(file.subarray(0, 10)));
    const mine = ['parts/tenant/mine-30/0-10', 'parts/tenant/mine-30/10-10'];
    for (const key of mine) await put(key);
    let isOver = false;
    const others = Array.from({ length: 4 }, async (_, at) => {
      for (let n = 0; !isOver; n++) {
        const key = `parts/tenant/other${at}-${n}/0-10`;
        await put(key);
        await store.delete(key);
        // The folder of the tenant goes with its last upload.
        await put(`parts/tenant${at}/other-10/0-10`);
        await store.delete(`parts/tenant${at}/other-10/0-10`);
      }
    });
    for (let n = 0; n < 100; n++) {
      expect((await allOf(store.list('parts/tenant/mine-'))).sort()).toEqual(mine);
      expect(await allOf(store.list('parts/'))).toEqual(expect.arrayContaining(mine));
    }
    isOver = true;
    await Promise.all(others);
  });

  it('deletes incomplete files and empty folders of killed processes after some sweeps', async () => {
    const folder = await temporaryFolder();
    const store = await open(folder);
    const left = `${randomUUID()}-1000`;
    await writeFile(join(folder, 'incomplete', left), 'x');
    const tenant = randomUUID();
    await mkdir(join(folder, 'parts', tenant, `${'a'.repeat(64)}-1000`), { recursive: true });
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    async function* slow() {
      yield file.subarray(0, 10);
      await held;
      yield file.subarray(10, 20);
    }
    const slowKey = `parts/${tenant}/${'b'.repeat(64)}-20/0-20`;
    const putting = store.put(slowKey, 20, slow());
    for (let n = 0; n < 3; n++) await store.sweep();
    expect(readdirSync(join(folder, 'incomplete'))).toContain(left);
    await store.sweep();
    expect(readdirSync(join(folder, 'incomplete'))).toHaveLength(1);
    expect(readdirSync(join(folder, 'parts'))).toEqual([]);
    goOn();
    await putting;
    expect(await store.find(slowKey)).toMatchObject({ bytes: 20 });
  });

  it.skipIf(!mayMount)(
    'leaves 64 MiB of the disk, also to uploads that arrive together on two instances',
    async () => {
      const disk = await smallDisk('100m');
      const stores = [await open(disk), await open(disk)];
      const size = 10 * 1024 * 1024;
      const putting = Array.from({ length: 16 }, async (_, at) => {
        async function* content() {
          for (let sent = 0; sent < size; sent += 2 ** 20) {
            await sleep(5);
            yield Buffer.alloc(2 ** 20, at);
          }
        }
        const name = at.toString(16).repeat(64);
        await (stores[at % 2] as MediaStore).put(name, size, content());
      });
      const outcomes = await Promise.allSettled(putting);
      const { bavail, bsize } = statfsSync(disk);
      expect(bavail * bsize).toBeGreaterThanOrEqual(64 * 1024 * 1024);
      const stored = outcomes.filter(({ status }) => status === 'fulfilled');
      expect(stored.length).toBeGreaterThan(0);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected')
          expect(outcome.reason).toMatchObject({ code: 'unavailable' });
    },
  );

  it.skipIf(!mayMount)('takes parts only if the whole file has space beside them', async () => {
    const store = await open(await smallDisk('84m'));
    const put = (id: string, offset: number) =>
      store.put(`parts/tenant/${id.repeat(64)}-8388608/${offset}-1048576`, 2 ** 20, [
        Buffer.alloc(2 ** 20),
      ] as never);
    await put('a', 0);
    await expect(put('b', 0)).rejects.toMatchObject({ code: 'unavailable' });
    for (let part = 1; part < 8; part++) await put('a', part * 2 ** 20);
    async function* whole() {
      for (let part = 0; part < 8; part++) yield Buffer.alloc(2 ** 20);
    }
    await store.put('a'.repeat(64), 8 * 2 ** 20, whole());
  });

  it.skipIf(!mayMount)('throws unavailable on a disk that cannot be written', async () => {
    const disk = await smallDisk('70m');
    const store = await open(disk);
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    await expect(store.put(id, file.length, inChunks(file))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('EROFS'),
    });
  });
});

describe('a media store in a bucket', () => {
  let server: S3Server;
  let store: MediaStore;
  beforeEach(async () => {
    server = await startS3Server();
    store = await openS3(server);
  });
  const denied = { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' };

  it.each([
    ['refuses', denied],
    ['redirects', { status: 301 }],
    ['fails', { status: 500 }],
    ['is no S3', { status: 202 }],
    ['closes the connection', 'reset'],
  ] as const)('throws unavailable for every call when it %s', async (_, fault) => {
    server.fault = () => fault;
    const unavailable = { code: 'unavailable', retryAfterSeconds: 30 };
    await expect(store.put(id, file.length, inChunks(file))).rejects.toMatchObject(unavailable);
    await expect(store.open(id)).rejects.toMatchObject(unavailable);
    await expect(store.find(id)).rejects.toMatchObject(unavailable);
    await expect(store.delete(id)).rejects.toMatchObject(unavailable);
    await expect(allOf(store.list('parts/'))).rejects.toMatchObject(unavailable);
  });

  it('throws unavailable, and names the bucket only in the cause, when it is not there', async () => {
    await server.close();
    const error = await store.find(id).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(error.message).not.toContain('127.0.0.1');
    expect(error.cause.message).toContain('127.0.0.1');
  });

  it.each([
    ['the same token again', () => 'again'],
    ['two tokens in turn', (count: number) => `token ${count % 2}`],
  ])('ends a list that repeats: %s', async (_, tokenOf) => {
    let count = 0;
    server.fault = () => {
      if (count++ > 100) throw new Error('The list goes on for ever.');
      return {
        status: 200,
        body: `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${tokenOf(count)}</NextContinuationToken></ListBucketResult>`,
      };
    };
    await expect(allOf(store.list('parts/'))).rejects.toMatchObject({ code: 'unavailable' });
    await expect(allOf(store.folders('parts/'))).rejects.toMatchObject({ code: 'unavailable' });
    expect(count).toBeLessThan(10);
  });

  it('throws unavailable to the reader when an answer breaks off', async () => {
    server.fault = () => 'cut off';
    const content = (await store.open(id)) as AsyncIterable<Uint8Array>;
    await expect(allOf(content)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('does not take a 404 of a proxy for a missing file', async () => {
    server.fault = () => ({ status: 404, body: 'Not here' });
    await expect(store.open(id)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('lets the bucket check the SHA-256 of whole files', async () => {
    const other = Buffer.from(file).fill('x', 1000);
    const putting = store.put(id, file.length, inChunks(other));
    await expect(putting).rejects.toMatchObject({ code: 'unavailable' });
    expect(server.objects.size).toBe(0);
  });
});

describe('the location of a media store', () => {
  it.each([
    ['another scheme', 'ftp://host/media', 'media must be a folder, s3://bucket, or none'],
    ['no credentials', 's3://bucket', 'AWS_ACCESS_KEY_ID'],
    ['no bucket', 's3://', 'must name a bucket'],
  ])('refuses %s', async (_, location, message) => {
    await expect(openMediaStore(location, systemClock)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(message),
    });
  });
});
