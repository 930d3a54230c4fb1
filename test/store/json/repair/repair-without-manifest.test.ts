// Both copies of the manifest are lost, so a repair rebuilds it from the other files.
import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../../../src/domain/clock.ts';
import { openJsonStore } from '../../../../src/store/json/open.ts';
import { repairFolder } from '../../../../src/store/json/repair/repair-folder.ts';
import { RepairLog } from '../../../../src/store/json/repair/repair-log.ts';
import { checkStore } from '../../../../src/store/maintenance/check.ts';
import { repairStore } from '../../../../src/store/maintenance/repair.ts';
import { openStore } from '../../../../src/store/open.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { batchOf, guid, impression } from '../../sample-batch.ts';
import { venueRow } from '../../sample-rows.ts';
import { damagedDisk, damagesOf, filesIn } from '../damages.ts';
import { fullStore, holdings } from '../full-store.ts';
import { contextOn } from '../part-rig.ts';
import { contentsOf, copyOf } from '../store-folder.ts';

const manifests = ['manifest.json', 'manifest.copy.json'];
const removeManifests = async (folder: string) => {
  for (const name of manifests) await rm(join(folder, name));
};

async function repairedOf(folder: string, clock: ManualClock) {
  const before = await contentsOf(folder);
  const into = join(await temporaryFolder(), 'new');
  const mended = await repairStore(folder, into, clock);
  expect(await contentsOf(folder)).toEqual(before);
  expect((await checkStore(into)).filter(({ level }) => level === 'damage')).toEqual([]);
  return { into, mended, store: await openStore(into, { clock }) };
}

describe('a repair without a manifest', () => {
  it.each([
    ['is gone', removeManifests],
    [
      'is damaged',
      async (folder: string) =>
        Promise.all(manifests.map((name) => writeFile(join(folder, name), 'x'))).then(() => {}),
    ],
  ])(
    'loses nothing of a stopped store when that %s, and warns that checksums are missing',
    async (_, lose) => {
      const { folder, clock } = await fullStore();
      const original = await openStore(await copyOf(folder), { clock });
      await lose(folder);
      const { mended, store } = await repairedOf(folder, clock);
      expect(await holdings(store)).toEqual(await holdings(original));
      expect(mended[0]).toEqual({
        file: 'manifest.json',
        offset: null,
        lost: null,
        what: expect.stringContaining('no checksum'),
      });
      expect(mended.slice(1).filter(({ lost }) => lost !== 0)).toEqual([]);
      await Promise.all([store.close(), original.close()]);
    },
  );

  it('loses only last activity after a crash', async () => {
    const { folder: crashed, clock } = await fullStore('crashed');
    const store = await openStore(await copyOf(crashed), { clock });
    const { seen: _seen, ...before } = await holdings(store);
    await store.close();
    await removeManifests(crashed);
    const repaired = await repairedOf(crashed, clock);
    expect(await holdings(repaired.store)).toMatchObject(before);
    await repaired.store.close();
  });

  it('keeps counts of deleted events, and of events after the last checkpoint', async () => {
    const { folder, clock } = await fullStore();
    const store = await openStore(folder, { clock });
    await store.purgeBefore(clock.now());
    await store.appendBatch(
      batchOf([impression(clock.now(), { number: 99 })], {
        deviceId: guid('devi', 1),
        key: 'the last',
      }),
    );
    const crashed = await copyOf(folder);
    const before = await holdings(store);
    await store.close();
    await removeManifests(crashed);
    const repaired = await repairedOf(crashed, clock);
    const { received, timestamp, numbered, events } = await holdings(repaired.store);
    expect({ received, timestamp, numbered, events }).toEqual({
      received: before.received,
      timestamp: before.timestamp,
      numbered: before.numbered,
      events: before.events,
    });
    expect(numbered.length).toBeGreaterThan(0);
    // Keys of deleted batches, and of the newest batch.
    for (const key of ['key 1', 'the last']) {
      const again = batchOf([impression(1)], { deviceId: guid('devi', 1), key });
      await expect(repaired.store.appendBatch(again), key).rejects.toMatchObject({
        code: 'idempotency_key_reused',
      });
    }
    await repaired.store.close();
  });

  it('uses the newest version of a document and newer rows of the journal, also after a damaged record', async () => {
    const folder = await temporaryFolder();
    const clock = new ManualClock();
    let store = await openStore(folder, { clock });
    await store.write((tx) => tx.put('venues', venueRow(1, { name: 'First' })));
    await store.close();
    const [document = ''] = (await filesIn(folder)).filter((file) =>
      file.startsWith('documents/rows-venues'),
    );
    const older = await readFile(join(folder, document));
    store = await openStore(folder, { clock });
    await store.write((tx) => tx.put('venues', venueRow(1, { name: 'Second' })));
    await store.write((tx) => tx.put('venues', venueRow(2, { name: 'Other' })));
    await store.write((tx) => tx.put('venues', venueRow(1, { name: 'Third' })));
    const crashed = await copyOf(folder);
    await store.close();
    const segment = (await filesIn(crashed)).findLast((file) => file.startsWith('journal')) ?? '';
    const text = await readFile(join(crashed, segment), 'utf8');
    await writeFile(join(crashed, segment), text.replace('"Other"', '"Otter"'));
    await writeFile(join(crashed, document.replace(/\.\d+\.json$/, '.0.json')), older);
    await removeManifests(crashed);
    const repaired = await repairedOf(crashed, clock);
    const { items } = await repaired.store.list('venues', { limit: 10 });
    expect(items.map(({ name }) => name)).toEqual(['Third']);
    expect(repaired.mended).toContainEqual(
      expect.objectContaining({ lost: 0, what: expect.stringContaining('is newer') }),
    );
    await repaired.store.close();
  });

  it('does not restore a deleted row from an old version of a document', async () => {
    const folder = await temporaryFolder();
    const clock = new ManualClock();
    let store = await openStore(folder, { clock });
    await store.write((tx) => tx.put('venues', venueRow(1)));
    await store.close();
    store = await openStore(folder, { clock });
    await store.write((tx) => tx.delete('venues', venueRow(1).id));
    const crashed = await copyOf(folder);
    await store.close();
    await removeManifests(crashed);
    const repaired = await repairedOf(crashed, clock);
    expect((await repaired.store.list('venues', { limit: 10 })).items).toEqual([]);
    await repaired.store.close();
  });

  it('recovers a folder with only events, starting at the first that retention left', async () => {
    const { folder, clock } = await fullStore();
    for (const file of await filesIn(folder)) {
      if (!file.startsWith('events/') || file === 'events/2026-11-20.ndjson')
        await rm(join(folder, file));
    }
    const repaired = await repairedOf(folder, clock);
    expect((await holdings(repaired.store)).events).toEqual([3, 3, 4, 4, 5, 5, 6, 6]);
    expect(await repaired.store.appendBatch(batchOf([impression(clock.now() + dayMs)]))).toBe(
      'stored',
    );
    await repaired.store.close();
  });
});

describe('a repair without a manifest and with another damaged file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = (await fullStore()).folder;
  });

  it('yields a store that starts, and loses no row that is in the journal', async () => {
    const contents = await contentsOf(folder);
    for (const name of manifests) delete contents[name];
    const damages = (await damagesOf(folder)).filter(
      ({ file }, at) => !manifests.includes(file) && at % 59 === 0,
    );
    expect(damages.length).toBeGreaterThan(5);
    for (const damage of damages) {
      const about = `${damage.file}: ${damage.what}`;
      const clock = new ManualClock(Date.UTC(2026, 10, 22, 13));
      const disk = await damagedDisk(contents, damage);
      const into = contextOn(disk, clock, '/new');
      await repairFolder({ from: contextOn(disk, clock), into, log: new RepairLog() }, randomBytes);
      const store = await openJsonStore(into, randomBytes, async () => {});
      const { venues, screens, devices, deviceKeys, playlists } = await holdings(store);
      // The journal has those of the last day.
      for (const numbers of [venues, screens, devices, deviceKeys, playlists])
        expect(numbers, about).toEqual(expect.arrayContaining([5, 6]));
      await store.close();
    }
  });
});
