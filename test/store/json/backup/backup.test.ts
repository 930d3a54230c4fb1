import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packTar, unpackTar } from 'modern-tar';
import { describe, expect, it } from 'vitest';
import { dayMs, minuteMs } from '../../../../src/domain/clock.ts';
import { decorateStore } from '../../../../src/service/store-decorator.ts';
import { restoreBackup } from '../../../../src/store/json/backup/restore.ts';
import {
  type FileSystem,
  nodeFileSystem,
  type OpenFile,
} from '../../../../src/store/json/disk/file-system.ts';
import { makeMemoryFileSystem } from '../../../../src/store/json/disk/memory-file-system.ts';
import { restoreStore } from '../../../../src/store/maintenance/restore.ts';
import { openStore } from '../../../../src/store/open.ts';
import { FailingDisk } from '../../../faults/disk/failing-disk.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { batchOf, guid, impression } from '../../sample-batch.ts';
import { venueRow } from '../../sample-rows.ts';
import { add, backUpUnderLoad, bytesOf, restored, shown, streamOf } from '../backup-load.ts';
import { contentsOf } from '../store-folder.ts';

async function filled(count: number) {
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const store = await openStore(folder, { clock });
  for (let number = 1; number <= count; number++) await add(store, clock, number);
  return { folder, clock, store };
}

const thisFile = fileURLToPath(import.meta.url);

/** A disk that reports how many bytes of open files were read. */
function counting(disk: FileSystem) {
  const counts = { bytes: 0 };
  const open: FileSystem['open'] = async (path, how) => {
    const file = await disk.open(path, how);
    const read: OpenFile['read'] = async (into, position) => {
      const got = await file.read(into, position);
      counts.bytes += got;
      return got;
    };
    return decorateStore(file, { read });
  };
  return { disk: decorateStore(disk, { open }), counts };
}

/**
 * A backup larger than what is packed ahead of its reader, who has not read yet. Most of it was
 * received two days ago, as was an audit entry.
 */
async function large(place = 'memory:', disk = nodeFileSystem) {
  const clock = new ManualClock();
  const store = await openStore(place, { clock, ...(place !== 'memory:' && { disk }) });
  await add(store, clock, 1);
  const body = Buffer.from(JSON.stringify([{ type: 'log', timestamp: 1, text: 'x'.repeat(1000) }]));
  for (let n = 0; n < 120; n++)
    await store.appendBatch({
      ...batchOf([]),
      body: Buffer.concat([Buffer.alloc(100_000, ' '), body]),
    });
  clock.advance(2 * dayMs);
  await add(store, clock, 2);
  return { clock, store, stream: await store.backup() };
}

const manifest = 'manifest.json';
const file = (name: string, body: string) => ({
  header: { name, size: body.length, type: 'file' as const },
  body,
});
/** The first file of a backup, which lists files of these names. */
function headOf(names: readonly string[], size = 1) {
  const head = { kind: 'signage-backup', format: 1, at: '2026-11-21T00:00:00.000Z' };
  return file(
    'backup.json',
    JSON.stringify({ ...head, files: names.map((name) => ({ name, size })) }),
  );
}
const head = headOf([manifest]);
const one = file(manifest, 'x');
const tail = file('checksums.json', JSON.stringify({ crc32: { [manifest]: '8cdc1683' } }));

/** Maximum bytes packed ahead of the reader. */
const aheadBytes = 8 * 1024 * 1024;

describe('a backup', () => {
  it('has everything acknowledged before it was requested, and no partial change, on a busy store', {
    timeout: 120_000,
  }, async () => {
    await backUpUnderLoad({ clock: new ManualClock(), rounds: 2, perRound: 20 });
  });

  it('delays the deletion of files until it and all others end', async () => {
    const folder = await temporaryFolder();
    const { clock, store, stream } = await large(folder);
    const other = await store.backup();
    // A purge waits for a checkpoint before it deletes files of the audit trail.
    await store.purgeBefore(clock.now() - dayMs);
    // The newer file is written by a later checkpoint.
    const hasOld = async () => (await readdir(join(folder, 'audit'))).includes('2026-11-20.ndjson');
    expect(await hasOld()).toBe(true);
    await other.cancel();
    await add(store, clock, 3);
    expect(await hasOld()).toBe(true);
    const copy = await restored(await bytesOf(stream));
    expect((await shown(copy.store)).audited).toBe(2);
    await copy.store.close();
    await expect.poll(hasOld).toBe(false);
    await store.close();
  });

  it('releases its files when it is cancelled', async () => {
    const { folder, clock, store } = await filled(3);
    const stream = await store.backup();
    await stream.cancel();
    clock.advance(40 * dayMs);
    await add(store, clock, 4);
    await store.purgeBefore(clock.now() - dayMs);
    await store.close();
    expect(await readdir(join(folder, 'events'))).toHaveLength(1);
  });

  it('fails and releases its files when its reader takes nothing for 5 minutes', async () => {
    const folder = await temporaryFolder();
    const { disk, counts } = counting(nodeFileSystem);
    const { clock, store, stream } = await large(folder, disk);
    const hasOld = async () => (await readdir(join(folder, 'audit'))).includes('2026-11-20.ndjson');
    const reader = stream.getReader();
    await reader.read();
    await expect.poll(() => counts.bytes).toBeGreaterThan(aheadBytes);
    await store.purgeBefore(clock.now() - dayMs);
    clock.advance(4 * minuteMs);
    await new Promise(setImmediate);
    expect(await hasOld()).toBe(true);
    clock.advance(minuteMs);
    await expect.poll(hasOld).toBe(false);
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('5 minutes'),
    });
    await store.write(async (tx) => tx.put('venues', venueRow(5)));
    await store.close();
  });

  it('continues as long as its reader takes something now and then', async () => {
    const { clock, store, stream } = await large();
    let bytes = 0;
    for await (const part of stream) {
      bytes += part.length;
      if (bytes % 1_000_000 < part.length) clock.advance(4 * minuteMs);
      await new Promise(setImmediate);
    }
    expect(bytes).toBeGreaterThan(12_000_000);
    await store.close();
  });

  it('fails when the store is closed before it is complete', async () => {
    const { store, stream } = await large();
    await store.close();
    await expect(bytesOf(stream)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is rejected once the store is closed', async () => {
    const store = await openStore('memory:');
    await store.close();
    await expect(store.backup()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is a tar with the file list first and the checksums last', async () => {
    const { store } = await filled(1);
    const entries = await unpackTar(await bytesOf(await store.backup()));
    await store.close();
    const names = entries.map(({ header }) => header.name);
    expect([names.at(0), names.at(-2), names.at(-1)]).toEqual([
      'backup.json',
      'manifest.json',
      'checksums.json',
    ]);
    expect(names).toContain('secret');
    expect(entries.every(({ header }) => header.mode === 0o600)).toBe(true);
  });
});

describe('a restored store', () => {
  it('logs the restore at its first start only, and accepts changes', async () => {
    const { store } = await filled(2);
    const backup = await bytesOf(await store.backup());
    await store.close();
    const copy = await restored(backup);
    expect(Buffer.from(copy.store.secret)).toEqual(Buffer.from(store.secret));
    expect(copy.warnings).toHaveLength(1);
    expect(copy.warnings[0]).toContain('was restored from a backup of 20');
    await copy.store.write(async (tx) => tx.put('venues', venueRow(9)));
    // The key was remembered: the batch is not stored twice.
    const events = [0, 1, 2].map((n) =>
      impression(new ManualClock().now(), { number: 1, n, creativeId: guid('crea', 1) }),
    );
    expect(
      await copy.store.appendBatch(batchOf(events, { deviceId: guid('devi', 1), key: 'key 1' })),
    ).toBe('repeated');
    await copy.store.close();
    const warnings: string[] = [];
    const again = await openStore(copy.folder, {
      onWarning: (message) => void warnings.push(message),
    });
    expect((await shown(again)).venues).toEqual([1, 2, 9]);
    expect(warnings).toEqual([]);
    await again.close();
  });
});

describe('restoreStore', () => {
  const backupOf = async () => {
    const { store } = await filled(3);
    const bytes = await bytesOf(await store.backup());
    await store.close();
    return bytes;
  };

  it('rejects a non-empty folder, and changes nothing', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'notes.txt'), 'mine');
    await expect(restoreStore(streamOf(await backupOf()), folder)).rejects.toMatchObject({
      code: 'folder_not_empty',
      message: expect.stringContaining('is not empty (notes.txt)'),
    });
    expect(await contentsOf(folder)).toEqual({ 'notes.txt': 'mine' });
  });

  it('rejects the folder of a running store', async () => {
    const { folder, store } = await filled(1);
    await expect(restoreStore(streamOf(await backupOf()), folder)).rejects.toMatchObject({
      code: 'store_locked',
    });
    await store.close();
  });

  it('rejects a backup truncated anywhere, and leaves nothing behind', async () => {
    const backup = await backupOf();
    const parent = await temporaryFolder();
    const folder = join(parent, 'data');
    for (let end = 0; end < backup.length - 2 * 512; end += Math.ceil(backup.length / 20)) {
      await expect(restoreStore(streamOf(backup.subarray(0, end)), folder)).rejects.toMatchObject({
        code: 'backup_unusable',
      });
      expect(await readdir(parent)).toEqual([]);
    }
    await restoreStore(streamOf(backup), folder);
  });

  it('rejects a backup with a changed byte anywhere in a file', async () => {
    const entries = await unpackTar(await backupOf());
    for (const { header, data } of entries) {
      if (!data || header.name === 'checksums.json') continue;
      const at = Math.floor(data.length / 2);
      const changed = entries.map((entry) =>
        entry.header === header ? { header, data: data.with(at, (data[at] ?? 0) ^ 1) } : entry,
      );
      const parent = await temporaryFolder();
      const restoring = restoreStore(streamOf(await packTar(changed)), join(parent, 'data'));
      await expect(restoring, header.name).rejects.toMatchObject({ code: 'backup_unusable' });
      expect(await readdir(parent)).toEqual([]);
    }
  });

  it.each<[string, Parameters<typeof packTar>[0], message: string]>([
    ['something else', [file('a.txt', 'a')], 'it does not begin with backup.json'],
    ['a file outside the folder', [headOf(['../outside.json'])], 'backup.json is damaged'],
    ['a file that no store has', [headOf(['lock.sock'])], 'backup.json is damaged'],
    ['no manifest', [headOf(['secret'])], 'backup.json names no manifest.json'],
    ['a file that is listed twice', [headOf([manifest, manifest])], 'names a file twice'],
    ['a file that is not listed', [head, file('secret', 'x')], '"secret" does not belong in it'],
    ['a file that is in it twice', [head, one, one], '"manifest.json" is in it twice'],
    [
      'a file of another size',
      [head, file(manifest, 'xx')],
      '"manifest.json" has 2 bytes, and backup.json says 1',
    ],
    ['a listed file missing', [head, tail], '"manifest.json" is missing'],
    ['no checksums', [head, one], 'checksums.json is missing'],
    [
      'more checksums than memory may hold',
      [head, one, file('checksums.json', ' '.repeat(16 * 1024 * 1024 + 1))],
      'checksums.json has 16777217 bytes, and the limit is 16777216',
    ],
    [
      'a file behind the checksums',
      [head, one, tail, file('secret', 'x')],
      '"secret" stands after checksums.json',
    ],
  ])('rejects a tar with %s, and leaves nothing behind', async (_, entries, message) => {
    const parent = await temporaryFolder();
    const tar = streamOf(await packTar(entries));
    await expect(restoreStore(tar, join(parent, 'data'))).rejects.toMatchObject({
      code: 'backup_unusable',
      message: expect.stringContaining(message),
    });
    expect(await readdir(parent)).toEqual([]);
  });

  it('keeps an existing folder and its empty subfolders when it fails', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'documents'));
    const backup = await backupOf();
    await expect(
      restoreStore(streamOf(backup.subarray(0, backup.length / 2)), folder),
    ).rejects.toThrow();
    expect(await readdir(folder)).toEqual(['documents']);
    expect((await restoreStore(streamOf(backup), folder)).files).toBeGreaterThan(3);
  });

  it.each([
    ['a folder that cannot be made', '/proc/no-such-folder/data'],
    ['a folder below a file', join(thisFile, 'data')],
    ['a file', thisFile],
  ])('store_unusable for %s', async (_what, folder) => {
    await expect(restoreStore(streamOf(await backupOf()), folder)).rejects.toMatchObject({
      code: 'store_unusable',
    });
  });

  it('store_unusable, before anything is written, for a backup that is larger than the disk', async () => {
    const parent = await temporaryFolder();
    const tar = await packTar([headOf([manifest], 2 ** 52)]);
    await expect(restoreStore(streamOf(tar), join(parent, 'data'))).rejects.toMatchObject({
      code: 'store_unusable',
      message: expect.stringMatching(
        /too little space: the backup takes 4503599627370496 bytes, and \d+ are free/,
      ),
    });
    expect(await readdir(parent)).toEqual([]);
  });

  it('leaves no file when any operation of the disk fails', async () => {
    const backup = await backupOf();
    const run = async (number: number) => {
      const failing = new FailingDisk();
      const memory = makeMemoryFileSystem();
      failing.failAt(number, 'ENOSPC');
      const error = await restoreBackup(streamOf(backup), {
        disk: failing.over(memory),
        directory: 'data',
      }).then(
        () => undefined,
        (failed: Error) => failed,
      );
      const names = ['', '/documents', '/audit', '/events', '/journal'];
      const left = (await Promise.all(names.map((name) => memory.list(`data${name}`))))
        .flat()
        .filter((name) => !names.includes(`/${name}`));
      return { operation: failing.operations[number - 1], error, left };
    };
    for (let number = 1; ; number++) {
      const { operation, error, left } = await run(number);
      if (operation === undefined) break;
      if (error) expect(left, operation).toEqual([]);
    }
  });
});
