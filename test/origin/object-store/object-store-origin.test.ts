import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlaylistWithItems } from '../../../src/domain/playlists/playlist-content.ts';
import { makeFileObjectStore } from '../../../src/origin/object-store/file-object-store.ts';
import { maxObjectBytes, type ObjectStore } from '../../../src/origin/object-store/object-store.ts';
import { openObjectStore } from '../../../src/origin/object-store/open-object-store.ts';
import {
  makeObjectStoreOrigin,
  makePlaylistCopies,
  playlistObjectBytes,
} from '../../../src/origin/object-store/playlist-copies.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import {
  type S3Server,
  s3Bucket,
  s3Credentials,
  startS3Server,
} from '../../support/network/s3-server.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { playlistRow, screenRow } from '../../support/service/playlist-rows.ts';
import { memoryObjectStore } from '../../support/stores/memory-object-store.ts';

const failing = (code: string) => expect.objectContaining({ code });
const screen = screenRow();
const row = playlistRow(screen, { version: 7 });
const key = `${screen.tenantId}/playlists/${screen.id}.json`;
let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});

/** Texts that are not a copy of this screen's playlist. */
function garbage(): [string, string][] {
  const changed = (change: (object: Record<string, unknown>) => void) => {
    const object = JSON.parse(Buffer.from(playlistObjectBytes(row)).toString());
    change(object);
    return JSON.stringify(object);
  };
  const member = (name: string, value: unknown): [string, string] => [
    `${name}: ${JSON.stringify(value)?.slice(0, 30)}`,
    changed((object) => Object.assign(object, { [name]: value })),
  ];
  return [
    ['nothing', ''],
    ['no JSON', '<html>'],
    ['null', 'null'],
    ['half of it', Buffer.from(playlistObjectBytes(row)).toString().slice(0, -20)],
    ['two of it', Buffer.from(playlistObjectBytes(row)).toString().repeat(2)],
    member('format', 2),
    member('screenId', screenRow().id),
    member('tenantId', screenRow().tenantId),
    member('playlistId', 'x'),
    member('version', 0),
    member('version', '7'),
    member('version', 1.5),
    member('state', 'superseded'),
    member('validUntil', 'soon'),
    member('publishedAt', undefined),
    member('items', []),
    member('items', [{ creativeUrl: 'file:///etc/passwd' }]),
    member('items', '[]'),
  ];
}

describe('the object store as an origin', () => {
  const store = memoryObjectStore();
  const fetch = () => makeObjectStoreOrigin(makePlaylistCopies(store, clock), clock).fetch(screen);
  const plant = (text: string) => void store.objects.set(key, text);
  const hold = (held: PlaylistWithItems) =>
    plant(Buffer.from(playlistObjectBytes(held)).toString());

  it('answers with the whole copy', async () => {
    hold(row);
    expect(await fetch()).toEqual({ kind: 'playlist', playlist: row, items: row.items });
  });

  it('has no playlist without a copy', async () => {
    store.objects.clear();
    expect(await fetch()).toEqual({ kind: 'none' });
  });

  it('answers decided-none for a withdrawn playlist', async () => {
    hold({ ...row, state: 'withdrawn' });
    expect(await fetch()).toEqual({ kind: 'decided-none', version: 7 });
  });

  it('answers decided-none from its expiry on', async () => {
    hold({ ...row, validUntil: clock.now() + 1000 });
    expect(await fetch()).toMatchObject({ kind: 'playlist' });
    clock.advance(1000);
    expect(await fetch()).toEqual({ kind: 'decided-none', version: 7 });
  });

  it.each(garbage())('fails for a damaged copy: %s', async (_, text) => {
    plant(text);
    await expect(fetch()).rejects.toEqual(failing('origin_bad_answer'));
  });
});

let server: S3Server;
let store: ObjectStore;
const opened: ObjectStore[] = [];
afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())));

async function openS3(): Promise<void> {
  server = await startS3Server();
  store = await openObjectStore(
    `s3://${s3Bucket}?endpoint=${server.endpoint}`,
    s3Credentials,
    clock,
  );
  opened.push(store);
}

describe('the object store as an origin: an unusable folder', () => {
  it('fails for a sparse file of any size, without reading it', async () => {
    const folder = await temporaryFolder();
    await mkdir(dirname(join(folder, key)), { recursive: true });
    await writeFile(join(folder, key), '{');
    await truncate(join(folder, key), 2 ** 36);
    const copies = makePlaylistCopies(makeFileObjectStore(folder), clock);
    await expect(makeObjectStoreOrigin(copies, clock).fetch(screen)).rejects.toEqual(
      failing('origin_bad_answer'),
    );
  });
});

describe('the object store as an origin: an unusable S3', () => {
  beforeEach(openS3);
  const fetch = () => makeObjectStoreOrigin(makePlaylistCopies(store, clock), clock).fetch(screen);

  it.each([
    [403, 'AccessDenied'],
    [500, 'InternalError'],
    [503, 'SlowDown'],
    [404, 'NoSuchBucket'],
    [400, 'ExpiredToken'],
  ])('fails for %i %s, with a message without secrets', async (status, code) => {
    server.fault = () => ({
      status,
      body: `<Error><Code>${code}</Code><Message>${s3Credentials.secretAccessKey}</Message></Error>`,
    });
    const error = await fetch().catch((thrown: Error) => thrown);
    expect(error).toEqual(failing('object_store_refused'));
    expect((error as Error).message).toContain(`${status} ${code}`);
    expect((error as Error).message).not.toContain(s3Credentials.secretAccessKey);
    expect(server.requests).toEqual([`GET ${key}`]);
  });

  it('follows no redirect, and reports the region from S3', async () => {
    const elsewhere = await startS3Server();
    elsewhere.objects.set(key, Buffer.from(playlistObjectBytes(row)));
    server.fault = () => ({
      status: 301,
      headers: {
        location: `${elsewhere.endpoint}/${s3Bucket}/${key}`,
        'x-amz-bucket-region': 'eu-central-1',
      },
    });
    await expect(fetch()).rejects.toThrow(/301.*eu-central-1/);
    expect(elsewhere.requests).toEqual([]);
  });

  it.each([200, 404])('fails for a %i that is not from S3', async (status) => {
    server.fault = () => ({ status, body: '<html>Log in to the hotel’s network</html>' });
    await expect(fetch()).rejects.toEqual(failing('object_store_refused'));
  });

  it.each(['reset', 'cut off'] as const)('fails for an answer that is %s', async (fault) => {
    server.fault = () => fault;
    await expect(fetch()).rejects.toEqual(failing('object_store_unreachable'));
  });

  it('fails for an endless answer, without reading it all', async () => {
    server.fault = () => ({
      status: 200,
      body: Buffer.alloc(3 * maxObjectBytes, ' '),
      headers: { etag: '"endless"' },
    });
    await expect(fetch()).rejects.toEqual(failing('origin_bad_answer'));
  });

  it('fails when the connection is refused', async () => {
    await server.close();
    await expect(fetch()).rejects.toEqual(failing('object_store_unreachable'));
  });
});

describe('opening an object store', () => {
  it.each([
    ['another scheme', 'ftp://host/x'],
    ['no scheme', '/var/lib/mirror'],
    ['another machine', 'file://host/x'],
    ['no credentials', 's3://bucket'],
  ])('rejects %s', async (_, url) => {
    await expect(openObjectStore(url, {}, clock)).rejects.toEqual(failing('invalid_option'));
  });
});
