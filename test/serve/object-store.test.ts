// The whole service with an object store, over a store that can be made to fail.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogSink } from '../../src/domain/log.ts';
import type { ServeOptions } from '../../src/serve/serve-options.ts';
import { serveOn } from '../../src/serve.ts';
import { openStore } from '../../src/store/location/open.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import {
  type S3Server,
  s3Bucket,
  s3Credentials,
  startS3Server,
} from '../support/network/s3-server.ts';
import { item, manager } from '../support/service/management.ts';
import {
  type Answer,
  type BoundTv,
  startService,
  type TestService,
} from '../support/service/service.ts';
import { type FaultyStore, faultyStore } from '../support/stores/faulty-store.ts';

let stores: FaultyStore[] = [];
const faultyServe = (options?: ServeOptions) =>
  serveOn(async (...given) => {
    const store = faultyStore(await openStore(...given));
    stores.push(store);
    return store;
  }, options ?? {});
afterEach(() => {
  stores = [];
});

let said: string;
const log = Object.fromEntries(
  ['debug', 'info', 'warn', 'error'].map((level) => [
    level,
    (fields: Record<string, unknown>, message: string) => {
      const { err } = fields as { err?: Error };
      said += `${level} ${JSON.stringify(fields)} ${message} ${err?.stack} ${JSON.stringify(err)} ${(err?.cause as Error)?.stack}\n`;
    },
  ]),
) as unknown as LogSink;

let service: TestService;
let tv: BoundTv;
const publish = (...items: object[]) =>
  service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, { items });
const playlist = () => tv.send('GET', 'playlist');
const summary = ({ status, headers, body }: Answer) => [
  status,
  headers.get('x-source') ?? body?.code,
  headers.get('x-playlist-version'),
];

async function copied(): Promise<void> {
  await expect
    .poll(
      async () =>
        (await service.manage('GET', '/v1/mirror')).body.items.map(
          (one: { queuedAt: unknown }) => one.queuedAt,
        ),
      {
        interval: 5,
      },
    )
    .not.toContainEqual(expect.anything());
}

async function start(options: Omit<ServeOptions, 'clock'>): Promise<void> {
  said = '';
  service = await startService({ log, ...options }, faultyServe);
  tv = await service.tv();
}

const kinds = {
  'a folder': async () => ({
    objectStore: pathToFileURL(join(await temporaryFolder(), 'mirror')).href,
  }),
  S3: async () => ({
    objectStore: `s3://${s3Bucket}/copies?endpoint=${(await startS3Server()).endpoint}`,
    aws: s3Credentials,
  }),
};

describe('GET /devices/:id/playlist, when the store is lost', () => {
  it.each(Object.entries(kinds))(
    '200 with the last version, whole, from %s',
    async (_, options) => {
      await start(await options());
      await publish(item());
      await publish(
        item({ duration: 33, campaignId: '33333333-3333-4333-8333-333333333333', title: 'ü 😀' }),
      );
      await copied();
      const before = await playlist();
      expect(summary(before)).toEqual([200, 'store', '2']);
      stores[0]!.fault = 'error';
      const after = await playlist();
      expect(summary(after)).toEqual([200, 'object-store', '2']);
      expect(said).toMatch(/^warn .*"origin":"store".* This playlist origin fails/m);
      expect(after.text).toBe(before.text);
      expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
      const unchanged = await tv.send('GET', 'playlist', {
        headers: { 'If-None-Match': before.headers.get('etag')! },
      });
      expect(summary(unchanged)).toEqual([304, 'object-store', '2']);
      stores[0]!.fault = 'no';
      expect(summary(await playlist())).toEqual([200, 'store', '2']);
    },
  );
});

describe('damaged copies', () => {
  it('do not affect other copies', async () => {
    const folder = join(await temporaryFolder(), 'mirror');
    await start({ objectStore: pathToFileURL(folder).href });
    await publish(item());
    await copied();
    const good = tv;
    const paths: string[] = [];
    for (let number = 0; number < 6; number++) {
      tv = await service.tv();
      await publish(item());
      await copied();
      paths.push(join(folder, tv.tenantId, 'playlists', `${tv.screenId}.json`));
    }
    for (const path of paths) await writeFile(path, '{');
    stores[0]!.fault = 'error';
    for (let time = 0; time < 6; time++)
      expect(summary(await playlist())).toEqual([500, 'playlist_fetch_failed', null]);
    expect(summary(await good.send('GET', 'playlist'))).toEqual([200, 'object-store', '1']);
  });
});

describe('a service with an object store that fails', () => {
  let server: S3Server;
  beforeEach(async () => {
    server = await startS3Server();
    const aws = { ...s3Credentials, sessionToken: 'tokenOfTheSession' };
    await start({ objectStore: `s3://${s3Bucket}?endpoint=${server.endpoint}`, aws });
  });

  it.each([
    ['403', { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' }],
    ['500', { status: 500 }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
    ['garbage', { status: 200, body: '<html>', headers: { etag: '"x"' } }],
    ['nothing', 'reset' as const],
  ])('keeps working, and logs no secret: %s', async (_, fault) => {
    server.fault = () => fault;
    expect((await publish(item())).status).toBe(200);
    expect(summary(await playlist())).toEqual([200, 'store', '1']);
    await expect.poll(() => server.requests.length, { interval: 5 }).toBeGreaterThan(0);
    stores[0]!.fault = 'error';
    expect(summary(await playlist())).toEqual([500, 'playlist_fetch_failed', null]);
    await service.manage('GET', '/v1/mirror');
    await service.close();
    expect(said).toContain('warn');
    for (const secret of [
      s3Credentials.secretAccessKey,
      'tokenOfTheSession',
      'Signature=',
      'AWS4-HMAC',
    ])
      expect(said).not.toContain(secret);
  });

  it('is still ready', async () => {
    server.fault = () => 'reset';
    expect((await service.send('GET', '/readyz')).status).toBe(200);
  });

  it('stops, and retries failed copies at the next start', async () => {
    const data = await temporaryFolder();
    const objectStore = `s3://${s3Bucket}/next?endpoint=${server.endpoint}`;
    await start({ store: data, objectStore, aws: s3Credentials });
    server.fault = () => ({ status: 503 });
    await publish(item());
    await service.close();
    expect([...server.objects.keys()]).toEqual([]);
    server.fault = () => undefined;
    service = await startService({ store: data, objectStore, aws: s3Credentials }, faultyServe);
    await copied();
    expect([...server.objects.keys()]).toEqual([
      expect.stringMatching(new RegExp(`^next/[0-9a-f-]{36}/playlists/${tv.screenId}\\.json$`)),
    ]);
  });
});

describe('the default place of the copies', () => {
  it('is the folder "mirror" beside the data', async () => {
    const data = await temporaryFolder();
    await start({ store: data });
    await publish(item());
    await copied();
    const [tenantId] = await readdir(join(data, 'mirror'));
    const text = await readFile(
      join(data, 'mirror', tenantId!, 'playlists', `${tv.screenId}.json`),
      'utf8',
    );
    expect(JSON.parse(text)).toMatchObject({ format: 1, version: 1, screenId: tv.screenId });
    await service.restart();
    expect(summary(await playlist())).toEqual([200, 'store', '1']);
  });

  it.each([
    ['data in memory', {}],
    ['none', { objectStore: 'none' }],
  ])('is nowhere with %s', async (_, options) => {
    const data = await temporaryFolder();
    await start({ ...options, ...('objectStore' in options && { store: data }) });
    await publish(item());
    expect((await manager(service).get('/v1/mirror')).body).toMatchObject({
      code: 'not_supported',
    });
    expect(await readdir(data)).not.toContain('mirror');
  });
});
