// Every media store: a folder, and buckets of S3 (src/media/media-store.ts).
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
// @ts-expect-error: it has no types
import S3rver from 's3rver';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import type { ByteRange } from '../../src/domain/media/media.ts';
import type { MediaStore } from '../../src/media/media-store.ts';
import { openMediaStore } from '../../src/media/open-media-store.ts';
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
      const { modifiedAt = 0 } = (await store.find(key)) ?? {};
      expect(Math.abs(modifiedAt - Date.now())).toBeLessThan(60_000);
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
