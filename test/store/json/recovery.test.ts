import { chmod, copyFile, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { batchOf, guid, tenantA } from '../sample-batch.ts';
import { auditRow, pastPlaylistRow, screenRow, venueRow } from '../sample-rows.ts';
import { CrashDisk } from './crash-disk.ts';
import {
  change,
  changeManifest,
  contentsOf,
  copyOf,
  flipped,
  forgeDocument,
  harm,
  namesIn,
} from './store-folder.ts';

const warnings: string[] = [];
const open = (folder: string, clock = new ManualClock()) =>
  openStore(folder, {
    clock,
    onWarning: (message, cause) => void warnings.push(`${message}${cause ? `: ${cause}` : ''}`),
  });

async function put(store: Store, ...numbers: number[]): Promise<void> {
  for (const number of numbers)
    await store.write(async (tx) => {
      await tx.put('venues', venueRow(number));
      await tx.put('screens', screenRow(number));
      await tx.put('pastPlaylists', pastPlaylistRow(number, 1));
      await tx.audit(auditRow(number));
    });
}

/** Puts rows with these numbers into the store in a folder, and stops it. */
async function filled(folder: string, ...numbers: number[]): Promise<void> {
  const store = await open(folder);
  await put(store, ...numbers);
  await store.close();
}

async function numbersIn(folder: string): Promise<number[]> {
  const store = await open(folder);
  const { items } = await store.list('venues', { limit: 100 });
  await store.close();
  return items.map((row) => Number(row.id.slice(-4)));
}

/** Waits for a background checkpoint: afterwards only the newest segment is left. */
async function checkpointed(folder: string): Promise<void> {
  for (let turn = 0; turn < 1000; turn++) {
    if ((await namesIn(join(folder, 'journal'))).length === 1) return;
    await sleep(10);
  }
  throw new Error('no checkpoint came');
}

const segment = 'journal/0000000000000001-000001.log';
const damagedAt = (named: string) =>
  expect.objectContaining({ code: 'store_damaged', message: expect.stringContaining(named) });

describe('a new data folder', () => {
  it('is created with its parents, accessible only to its owner', async () => {
    const folder = join(await temporaryFolder(), 'a', 'b');
    await filled(folder, 1);
    const mode = async (path: string) => (await stat(join(folder, path))).mode & 0o777;
    for (const path of ['..', '.', 'documents', 'journal'])
      expect([path, await mode(path)]).toEqual([path, 0o700]);
    for (const file of Object.keys(await contentsOf(folder)))
      expect([file, await mode(file)]).toEqual([file, 0o600]);
    expect(await namesIn(folder)).toEqual([
      'audit',
      'documents',
      'events',
      'journal',
      'manifest.copy.json',
      'manifest.json',
      'secret',
    ]);
  });

  it('keeps the secret of an interrupted first start', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'secret'), `${'ab'.repeat(32)}\n`);
    await writeFile(join(folder, 'secret.tmp'), 'x');
    const store = await open(folder);
    expect(Buffer.from(store.secret).toString('hex')).toBe('ab'.repeat(32));
    await store.close();
  });

  it('is created at the root of a new ext4 file system, beside `lost+found`', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'lost+found'));
    await filled(folder, 1);
    expect(await numbersIn(folder)).toEqual([1]);
  });

  it('is not created in a folder with other files, over a file, or where no folder can be created', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'holiday.jpg'), '');
    const unusable = expect.objectContaining({ code: 'store_unusable' });
    await expect(open(folder)).rejects.toEqual(unusable);
    await expect(open(join(folder, 'holiday.jpg'))).rejects.toEqual(unusable);
    await expect(open(join(folder, 'holiday.jpg', 'data'))).rejects.toEqual(unusable);
    await expect(open('/proc/data')).rejects.toEqual(unusable);
    await expect(openStore('redis://localhost')).rejects.toMatchObject({ code: 'not_supported' });
    expect(await namesIn(folder)).toEqual(['holiday.jpg']);
  });

  it.skipIf(process.getuid?.() === 0)(
    'is not created where the user has no write permission (root always has it)',
    async () => {
      const folder = await temporaryFolder();
      await chmod(folder, 0o500);
      await expect(open(join(folder, 'data'))).rejects.toMatchObject({ code: 'store_unusable' });
    },
  );
});

describe('a start after a clean stop', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
    await filled(folder, 1, 2, 3);
    warnings.length = 0;
  });

  it('finds everything, in readable documents', async () => {
    expect(await numbersIn(folder)).toEqual([1, 2, 3]);
    const contents = await contentsOf(folder);
    const [document] = Object.keys(contents).filter((name) =>
      name.startsWith('documents/rows-screens-'),
    );
    const checksum = expect.stringMatching(/^[0-9a-f]{8}$/);
    const screen = ['screens', expect.objectContaining({ id: expect.any(String) })];
    const members = [checksum, expect.any(Number), checksum, screen, checksum, { lines: 1 }];
    expect(JSON.parse(contents[document!]!)).toEqual(members);
    expect(contents[document!]).toMatch(/^\["[^\n]*\n,"[^\n]*\n,"[^\n]*\]\n$/);
  });

  it('increments the epoch each time, and replays nothing', async () => {
    for (const epoch of [2, 3]) {
      expect(await numbersIn(folder)).toEqual([1, 2, 3]);
      expect((await contentsOf(folder))['manifest.json']).toContain(`"epoch":${epoch},`);
    }
    expect(warnings).toEqual([]);
  });

  it('never sets the time back behind written records', async () => {
    const before = new ManualClock(0);
    const store = await open(folder, before);
    const at = await store.write(async (tx) => tx.stamp);
    expect(at).toBe(new ManualClock().now());
    await store.close();
  });

  /** Expects two starts to fail with an error that names a file, and to change nothing. */
  async function expectRefused(named: string): Promise<void> {
    const before = await contentsOf(folder);
    for (let turn = 0; turn < 2; turn++) {
      const refused = await open(folder).catch((error: unknown) => error);
      expect(refused).toEqual(damagedAt(named));
      expect(refused).toMatchObject({
        message: expect.stringMatching(/Nothing was changed\. .*backup/),
      });
      expect(await contentsOf(folder)).toEqual(before);
    }
  }
  const later = 'journal/0000000000000004-000002.log';
  const screens = 'documents/rows-screens-';
  /** A start reads only its size. */
  const past = 'documents/disk-pastPlaylists-';

  it.each<[string, (folder: string) => Promise<void>, named: string]>([
    ['there is a later segment', (at) => copyFile(join(at, segment), join(at, later)), later],
    ['a document is of no known kind', (at) => forgeDocument(at, 'toys-00', ['{}']), 'toys-00'],
  ])('fails if %s, and names it', async (_, damage, named) => {
    await damage(folder);
    await expectRefused(named);
  });

  it.each<[string, file: string, damage: Parameters<typeof harm>[2]]>([
    ['the manifest is missing', 'manifest.json', null],
    ['the manifest is damaged', 'manifest.json', flipped(50)],
    ['the manifest is empty', 'manifest.json', ''],
    ['the manifest is null', 'manifest.json', 'null'],
    ['the secret is missing', 'secret', null],
    ['the secret is damaged', 'secret', 'short\n'],
    ['a document is missing', screens, null],
    ['a document is shorter', screens, (bytes) => bytes.subarray(1)],
    ['a document is damaged', screens, flipped(20)],
    ['a document is empty', screens, ''],
    ['a document of past playlists is missing', past, null],
    ['a document of past playlists is shorter', past, (bytes) => bytes.subarray(1)],
    ['the last segment is missing', segment, null],
    ['the last segment is shorter', segment, (bytes) => bytes.subarray(0, -1)],
    ['the last segment has lost a record', segment, withoutLastLine],
    ['the last segment is longer', segment, (b) => Buffer.concat([b, Buffer.from('{"crc')])],
    ['there is an empty later segment', later, ''],
  ])('fails if %s, changes nothing, and fails again', async (_, file, damage) => {
    await harm(folder, file, damage);
    await expectRefused(file.replace('documents/', ''));
  });

  it('reads no record of the journal that documents contain', async () => {
    await harm(folder, segment, flipped(60));
    await harm(folder, segment, (bytes) => flipped(bytes.length - 9)(bytes));
    const store = await open(folder);
    await put(store, 4);
    await store.close();
    expect(await numbersIn(folder)).toEqual([1, 2, 3, 4]);
  });

  it('opens the format of 0.1.0, which then no longer opens the folder', async () => {
    await changeManifest(folder, (manifest) => {
      manifest.format = 9;
    });
    await (await open(folder)).close();
    let format: unknown;
    await changeManifest(folder, (manifest) => {
      format = manifest.format;
    });
    expect(format).toBe(10);
  });

  it.each([1, 8, 11])('rejects the format %i of another version', async (format) => {
    await changeManifest(folder, (manifest) => {
      manifest.format = format;
    });
    const before = await contentsOf(folder);
    await expect(open(folder)).rejects.toMatchObject({ code: 'store_other_format' });
    expect(await contentsOf(folder)).toEqual(before);
  });
});

describe('a start after a crash', () => {
  let folder: string;
  /** Leaves three changes in the journal that are in no document. */
  beforeEach(async () => {
    const running = await temporaryFolder();
    const store = await open(running);
    await put(store, 1, 2, 3);
    folder = await copyOf(running);
    await store.close();
    warnings.length = 0;
  });

  it('finds all acknowledged changes', async () => {
    expect(await numbersIn(folder)).toEqual([1, 2, 3]);
    expect(warnings).toEqual([]);
    const store = await open(folder);
    expect(await store.read.get('pastPlaylists', `${guid('scre', 2)}/1`)).toEqual(
      pastPlaylistRow(2, 1),
    );
    expect((await store.audit({ tenantIds: [guid('tena', 1)], limit: 10 })).items).toEqual([
      auditRow(3),
      auditRow(2),
      auditRow(1),
    ]);
    await store.close();
  });

  it.each([
    ['a record that was cut short', '{"crc":"12345678","seq":4,"at":17'],
    ['zeros', '\0'.repeat(5000)],
    ['lines of rubbish', 'x\ny\n{"crc":"00000000","seq":4}\n'],
  ])('truncates %s at the end, saves it in a file, and logs it', async (_, torn) => {
    const good = (await contentsOf(folder))[segment]!;
    await change(join(folder, segment), (bytes) => Buffer.concat([bytes, Buffer.from(torn)]));
    const store = await open(folder);
    const after = await contentsOf(folder);
    expect(after[segment]).toBe(good);
    const [aside] = Object.keys(after).filter((name) =>
      name.startsWith(`${segment}.torn-2026-11-20T`),
    );
    expect(after[aside!]).toBe(torn);
    expect(warnings).toEqual([expect.stringContaining(`${torn.length} bytes`)]);
    await put(store, 4);
    await store.close();
    expect(await numbersIn(folder)).toEqual([1, 2, 3, 4]);
    expect(warnings).toHaveLength(1);
  });

  it('ignores a last segment without a complete record, and foreign files', async () => {
    await writeFile(join(folder, 'journal/0000000000000004-000002.log'), '{"crc":"1234');
    expect(await numbersIn(folder)).toEqual([1, 2, 3]);
    expect(await namesIn(join(folder, 'journal'))).not.toContain('0000000000000004-000002.log');
    await writeFile(join(folder, 'journal/readme.txt'), 'not ours, and no matter');
    expect(await numbersIn(folder)).toEqual([1, 2, 3]);
  });

  it.each<[string, (at: string) => Promise<unknown>, string]>([
    [
      'a record in the middle',
      (at) => change(join(at, segment), (b) => flipped(b.indexOf('\n') + 40)(b)),
      `${segment}, at byte`,
    ],
    ['the first record', (at) => change(join(at, segment), flipped(5)), `${segment}, at byte 0`],
    [
      'a record that is missing',
      (at) => change(join(at, segment), withoutSecondLine),
      `${segment}, at byte`,
    ],
    [
      'a segment that does not follow',
      (at) => rename(join(at, segment), join(at, 'journal/0000000000000002-000001.log')),
      '0000000000000002',
    ],
    [
      'a torn record in a segment that is not the last',
      async (at) => {
        const lines = (await contentsOf(at))[segment]!.split('\n');
        await writeFile(join(at, segment), `${lines[0]}\n${lines[1]?.slice(0, 30)}`);
        await writeFile(join(at, 'journal/0000000000000002-000002.log'), `${lines[1]}\n`);
      },
      `${segment}, at byte`,
    ],
  ])('rejects damage that no crash can cause: %s', async (_, damage, named) => {
    await damage(folder);
    const before = await contentsOf(folder);
    await expect(open(folder)).rejects.toEqual(damagedAt(named));
    expect(await contentsOf(folder)).toEqual(before);
  });

  it('rejects a journal that has lost records that documents contain', async () => {
    const clock = new ManualClock();
    const store = await open(folder, clock);
    await put(store, 4);
    clock.advance(60_000);
    await checkpointed(folder);
    const crashed = await copyOf(folder);
    await store.close();
    const [last] = (await namesIn(join(crashed, 'journal'))).toReversed();
    expect(last).toBe('0000000000000004-000002.log');
    await writeFile(join(crashed, 'journal', last!), '');
    await expect(open(crashed)).rejects.toEqual(damagedAt(`${last}, at byte 0`));
  });

  it('syncs what a killed process had written before it returns it', async () => {
    const disk = new CrashDisk();
    const openOn = (one: CrashDisk) =>
      openStore('memory:', { disk: one, clock: new ManualClock() });
    const first = await openOn(disk);
    await put(first, 1);
    disk.before = (operation) => {
      if (operation === 'datasync' || operation === 'truncate') throw new Error('killed');
    };
    const unavailable = { code: 'unavailable' };
    await expect(put(first, 2)).rejects.toMatchObject(unavailable);
    const batch = batchOf([{ type: 'log', timestamp: 1 }], { key: 'one' });
    await expect(first.appendBatch(batch)).rejects.toMatchObject(unavailable);
    const killed = disk.afterKill();
    const second = await openOn(killed);
    expect(await second.appendBatch(batch)).toBe('repeated');
    const last = await openOn(killed.afterPowerCut());
    expect((await last.list('venues', { limit: 9 })).items).toEqual([venueRow(1), venueRow(2)]);
    expect(await last.appendBatch(batch)).toBe('repeated');
    const events = await last.events({ tenantId: tenantA, order: 'asc', limit: 10 });
    expect(events.items).toHaveLength(1);
  });

  it('deletes the leftovers of an interrupted checkpoint', async () => {
    await writeFile(join(folder, 'documents/rows-venues-00.1.json'), '{}');
    await writeFile(join(folder, 'documents/rows-venues-01.1.json.tmp'), '{');
    await writeFile(join(folder, 'manifest.json.tmp'), '{');
    expect(await numbersIn(folder)).toEqual([1, 2, 3]);
    const names = [...(await namesIn(join(folder, 'documents'))), ...(await namesIn(folder))];
    expect(
      names.filter((name) => name.endsWith('.tmp') || name === 'rows-venues-00.1.json.tmp'),
    ).toEqual([]);
  });

  it('never treats a folder without its manifest as a new one', async () => {
    for (const lost of [['manifest.json', 'secret'], ['manifest.copy.json']]) {
      for (const name of lost) await rm(join(folder, name));
      await expect(open(folder)).rejects.toEqual(damagedAt(''));
    }
    await rm(join(folder, 'journal'), { recursive: true });
    await writeFile(join(folder, 'manifest.copy.json'), 'x');
    await expect(open(folder)).rejects.toEqual(damagedAt('manifest.json'));
    await rm(join(folder, 'manifest.copy.json'));
    await mkdir(join(folder, 'journal'));
    expect(await numbersIn(folder)).toEqual([]);
  });
});

function withoutLastLine(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf('\n', -2) + 1);
}

function withoutSecondLine(bytes: Buffer): Buffer {
  const lines = bytes.toString().split('\n');
  return Buffer.from([lines[0], ...lines.slice(2)].join('\n'));
}
