import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../../src/store/location/open.ts';
import type { Store, Tx } from '../../../../src/store/store.ts';
import { gate } from '../../../../src/testing/store-suite/store-test.ts';
import { diskFull, type FaultyDisk, faultyDisk } from '../../../support/disk/faulty-disk.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { guid, tenantA } from '../../sample-batch.ts';
import { auditRow, contentRow, pastPlaylistRow, playlistRow, venueRow } from '../../sample-rows.ts';
import { CrashDisk } from '../crash-disk.ts';

const unavailable = expect.objectContaining({ code: 'unavailable' });
const first = guid('venu', 1);

describe('a write while the disk is slow or failing', () => {
  let crash: CrashDisk;
  let disk: FaultyDisk;
  let store: Store;
  const open = async () => {
    disk = faultyDisk(crash);
    store = await openStore('memory:', { disk, clock: new ManualClock() });
  };
  const put = (number: number, name?: string) =>
    store.write((tx) => tx.put('venues', venueRow(number, name === undefined ? {} : { name })));
  /** The venues after a stop and a start. */
  const afterRestart = async () => {
    await store.close();
    await open();
    return (await store.list('venues', { limit: 5 })).items;
  };
  const isJournal = (path: string) => path.includes('/journal/');
  /** Blocks each fdatasync of the journal until it is released. */
  const hold = () => {
    const { open: letGo, opened: held } = gate();
    disk.fault = async (operation, path) => {
      if (operation === 'datasync' && isJournal(path)) await held;
      return undefined;
    };
    return letGo;
  };
  /** Waits some milliseconds, so that other changes arrive meanwhile. */
  const failOn = (wanted: string, error: Error, times = 1) => {
    let left = times;
    disk.fault = async (operation, path) => {
      if (operation !== wanted || !isJournal(path) || left-- <= 0) return undefined;
      await sleep(20);
      throw error;
    };
  };

  beforeEach(async () => {
    crash = new CrashDisk();
    await open();
    return () => store.close();
  });

  it('is visible to later changes at once, and to readers when it is on disk', async () => {
    const letGo = hold();
    let answered = false;
    const change = put(1).then(() => {
      answered = true;
    });
    const seen = store.write(async (tx) => [
      await tx.get('venues', first),
      await tx.find('venues', 'name', `${tenantA}/venue 1`),
      await tx.count('venues', 'tenantId', tenantA),
    ]);
    await sleep(30);
    expect(answered).toBe(false);
    expect(await store.read.get('venues', first)).toBeUndefined();
    expect(await store.read.find('venues', 'name', `${tenantA}/venue 1`)).toBeUndefined();
    expect(await store.read.count('venues', 'tenantId', tenantA)).toBe(0);
    expect((await store.list('venues', { limit: 5 })).items).toEqual([]);
    letGo();
    expect(await seen).toEqual([venueRow(1), venueRow(1), 1]);
    await change;
    expect(await store.read.get('venues', first)).toEqual(venueRow(1));
  });

  it('delays the result of a read-only or throwing change until the rows that it read are on disk', async () => {
    const letGo = hold();
    const order: string[] = [];
    const noted = (what: string) => () => void order.push(what);
    const all = [
      put(1).then(noted('put')),
      store.write(async (tx) => tx.get('venues', first)).then(noted('read')),
      put(2, 'Venue 1').catch(noted('conflict')),
    ];
    await sleep(30);
    expect(order).toEqual([]);
    letGo();
    await Promise.all(all);
    expect(order[0]).toBe('put');
    expect(order.toSorted()).toEqual(['conflict', 'put', 'read']);
  });

  it('commits 100 concurrent changes of one row with few fdatasyncs of 50 ms, and each sees all before it', async () => {
    await store.write((tx) => tx.put('playlists', playlistRow(1, 0)));
    disk.fault = async (operation) => {
      if (operation === 'datasync') await sleep(50);
      return undefined;
    };
    const before = disk.calls.length;
    const raise = async (tx: Tx) => {
      const row = await tx.get('playlists', guid('scre', 1));
      await tx.put('playlists', { ...row!, version: row!.version + 1 });
      return row!.version;
    };
    const versions = await Promise.all(Array.from({ length: 100 }, () => store.write(raise)));
    expect(versions.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, number) => number),
    );
    expect(
      disk.calls.slice(before).filter((call) => call.startsWith('datasync')).length,
    ).toBeLessThanOrEqual(4);
  });

  it('fails together with all changes staged on top of it, and leaves nothing', async () => {
    await put(1, 'Before');
    failOn('write', diskFull());
    const changes = [
      put(1, 'Changed'),
      store.write((tx) => tx.audit(auditRow(1))),
      put(2),
      store.write(async (tx) => (await tx.get('venues', first))?.name),
      put(3, 'Changed'),
      store.write((tx) => tx.delete('venues', first)),
    ];
    for (const result of await Promise.allSettled(changes))
      expect(result).toEqual({ status: 'rejected', reason: unavailable });
    for (const restarted of [false, true]) {
      if (restarted) {
        await store.close();
        await open();
      }
      expect((await store.list('venues', { limit: 5 })).items).toEqual([
        venueRow(1, { name: 'Before' }),
      ]);
      expect(await store.write((tx) => tx.select('venues', 'tenantId', [tenantA]))).toEqual([
        venueRow(1, { name: 'Before' }),
      ]);
      expect(await store.read.find('venues', 'name', `${tenantA}/changed`)).toBeUndefined();
      expect((await store.audit({ tenantIds: [tenantA], limit: 5 })).items).toEqual([]);
    }
    await put(2);
    expect(await store.read.count('venues', 'tenantId', tenantA)).toBe(2);
  });

  it('fails a change that ran while the one before it failed', async () => {
    const { open: letGo, opened: held } = gate();
    failOn('write', diskFull());
    const doomed = put(1);
    const reading = store.write(async (tx) => {
      const row = await tx.get('venues', first);
      await held;
      return row;
    });
    await expect(doomed).rejects.toEqual(unavailable);
    letGo();
    await expect(reading).rejects.toEqual(unavailable);
    expect(await store.write(async (tx) => tx.get('venues', first))).toBeUndefined();
  });

  it.each<[string, (() => number | undefined)[]]>([
    ['takes nothing', [() => 0]],
    ['takes part of it, and then no more', [() => 20, () => 0]],
    [
      'takes part of it, and fails',
      [
        () => 20,
        () => {
          throw diskFull();
        },
      ],
    ],
  ])('leaves nothing behind on a disk that %s, and the next one succeeds', async (_, steps) => {
    await put(1);
    const left = [...steps];
    disk.fault = (operation, path) =>
      operation === 'write' && isJournal(path) ? left.shift()?.() : undefined;
    await expect(put(2)).rejects.toEqual(unavailable);
    await put(3);
    // As after a crash: opens a copy of the folder in its current state.
    expect(await afterRestart()).toEqual([venueRow(1), venueRow(3)]);
  });

  it('is rejected after a failed fdatasync until a restart, while reads continue', async () => {
    await put(1);
    failOn('datasync', new Error('EIO'));
    await expect(put(2)).rejects.toEqual(unavailable);
    for (let turn = 0; turn < 3; turn++) await expect(put(3)).rejects.toEqual(unavailable);
    await expect(store.ready()).rejects.toEqual(unavailable);
    expect(await store.read.get('venues', first)).toEqual(venueRow(1));
    expect(await store.write(async (tx) => tx.get('venues', first))).toEqual(venueRow(1));
    expect(await afterRestart()).toEqual([venueRow(1)]);
    await put(2);
  });

  it('that can neither be synced nor truncated says so, and is removed at the stop', async () => {
    await put(1);
    disk.fault = (operation, path) => {
      if (/datasync|truncate/.test(operation) && isJournal(path)) throw new Error('EIO');
      return undefined;
    };
    await expect(put(2)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('may be there after a restart'),
    });
    disk.fault = () => undefined;
    await store.close();
    await open();
    expect((await store.list('venues', { limit: 5 })).items).toEqual([venueRow(1)]);
  });

  it('is not ready while the disk rejects writes, and ready when it takes them again', async () => {
    await put(1);
    await store.ready();
    disk.fault = (operation) => {
      if (/create|open|write/.test(operation)) throw new Error('EROFS: read-only file system');
      return undefined;
    };
    await expect(put(2)).rejects.toEqual(unavailable);
    await expect(store.ready()).rejects.toEqual(unavailable);
    disk.fault = () => undefined;
    await store.ready();
    await put(2);
    expect(crash.paths().filter((path) => path.includes('probe'))).toEqual([]);
  });

  it('that is torn and cannot be truncated makes the stop unclean', async () => {
    await put(1);
    const takes = [20, 0];
    disk.fault = (operation, path) => {
      if (operation === 'truncate') throw new Error('planted');
      return operation === 'write' && isJournal(path) ? takes.shift() : undefined;
    };
    await expect(put(2)).rejects.toEqual(unavailable);
    await store.close();
    expect(crash.text('memory:/manifest.json')).toContain('"clean":false');
    await open();
    expect((await store.list('venues', { limit: 5 })).items).toEqual([venueRow(1)]);
    expect(
      crash.paths().filter((path) => path.includes('/journal/') && path.includes('.torn-')),
    ).toHaveLength(1);
  });

  it('is rejected early on an almost full disk, and recovers by itself', async () => {
    disk.free = 1024 * 1024;
    await expect(put(1)).rejects.toEqual(unavailable);
    await expect(store.ready()).rejects.toEqual(unavailable);
    disk.free = Number.POSITIVE_INFINITY;
    await store.ready();
    await put(1);
  });

  it('makes past playlists visible to later changes at once, and to readers when they are on disk', async () => {
    const screen = guid('scre', 1);
    const ids = (rows: { id: string }[]) => rows.map((row) => row.id);
    await store.write((tx) => tx.put('pastPlaylists', pastPlaylistRow(1, 1)));
    const letGo = hold();
    const change = store.write(async (tx) => {
      await tx.put('pastPlaylists', pastPlaylistRow(1, 2));
      await tx.delete('pastPlaylists', `${screen}/1`);
    });
    const seen = store.write(async (tx) =>
      ids(await tx.select('pastPlaylists', 'screenId', [screen])),
    );
    await sleep(20);
    expect(ids(await store.read.select('pastPlaylists', 'screenId', [screen]))).toEqual([
      `${screen}/1`,
    ]);
    letGo();
    await change;
    expect(await seen).toEqual([`${screen}/2`]);
    expect(ids(await store.read.select('pastPlaylists', 'screenId', [screen]))).toEqual([
      `${screen}/2`,
    ]);
  });

  it('starts a new segment after 16 MiB', async () => {
    const items = JSON.stringify('x'.repeat(6 * 1024 * 1024));
    for (const version of [1, 2, 3, 4])
      await store.write((tx) =>
        tx.put('contents', contentRow(1, { items, tenantId: `${version}` })),
      );
    const segments = await crash.list('memory:/journal');
    expect(segments.sort()).toContain('0000000000000004-000001.log');
    await store.close();
    await open();
    expect((await store.read.get('contents', 'content-1'))?.tenantId).toBe('4');
  });

  it('fails across segments as within one segment', async () => {
    const items = JSON.stringify('x'.repeat(17 * 1024 * 1024));
    await store.write((tx) => tx.put('contents', contentRow(1, { items })));
    failOn('write', diskFull());
    await expect(put(1)).rejects.toEqual(unavailable);
    await put(2);
    await put(3);
    expect(await afterRestart()).toEqual([venueRow(2), venueRow(3)]);
  });
});
