// Both copies of the manifest are lost, so a repair rebuilds it from the other files.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../../../src/domain/clock.ts';
import { openStore } from '../../../../src/store/location/open.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { inStore } from '../../../support/service/in-store.ts';
import { batchOf, guid, impression } from '../../sample-batch.ts';
import { venueRow } from '../../sample-rows.ts';
import { damagedDisk, damagesOf, filesIn, flipped } from '../damages.ts';
import { fullStore, holdings } from '../full-store.ts';
import { contentsOf, copyOf } from '../store-folder.ts';
import { repairedCopy, repairedDisk } from './repaired-copy.ts';

const manifests = ['manifest.json', 'manifest.copy.json'];
const removeManifests = async (folder: string) => {
  for (const name of manifests) await rm(join(folder, name));
};

const venuesIn = (folder: string) =>
  inStore(folder, async (store) => (await store.list('venues', { limit: 10 })).items);

describe('a repair without a manifest', () => {
  it.each([
    ['is gone', removeManifests],
    [
      'is damaged',
      async (folder: string) =>
        Promise.all(manifests.map((name) => writeFile(join(folder, name), 'x'))).then(() => {}),
    ],
  ])(
    'loses nothing of a stopped store when that %s, and warns that missing files cannot be noticed',
    async (_, lose) => {
      const { folder, clock } = await fullStore();
      const before = await inStore(await copyOf(folder), holdings, { clock });
      await lose(folder);
      const { findings, held } = await repairedCopy(folder, clock);
      expect(held).toEqual(before);
      const what = expect.stringContaining('missing files cannot be noticed');
      const about = { file: 'manifest.json', section: null, offset: null, what };
      expect(findings).toEqual([{ level: 'damage', ...about, lost: null }]);
    },
  );

  it('loses only last activity after a crash', async () => {
    const { folder: crashed, clock } = await fullStore('crashed');
    const { seen: _seen, ...before } = await inStore(await copyOf(crashed), holdings, { clock });
    await removeManifests(crashed);
    expect((await repairedCopy(crashed, clock)).held).toMatchObject(before);
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
    const { into, held } = await repairedCopy(crashed, clock);
    const { received, timestamp, numbered, events } = before;
    expect(held).toMatchObject({ received, timestamp, numbered, events });
    expect(numbered.length).toBeGreaterThan(0);
    const repaired = await openStore(into, { clock });
    // Keys of deleted batches, and of the newest batch.
    for (const key of ['key 1', 'the last']) {
      const again = batchOf([impression(1)], { deviceId: guid('devi', 1), key });
      await expect(repaired.appendBatch(again), key).rejects.toMatchObject({
        code: 'idempotency_key_reused',
      });
    }
    await repaired.close();
  });

  it('uses the newest version of a document and newer rows of the journal, also after a damaged record', async () => {
    const folder = await temporaryFolder();
    const clock = new ManualClock();
    await inStore(folder, (first) =>
      first.write((tx) => tx.put('venues', venueRow(1, { name: 'First' }))),
    );
    const [document = ''] = (await filesIn(folder)).filter((file) =>
      file.startsWith('documents/rows-venues'),
    );
    const older = await readFile(join(folder, document));
    const store = await openStore(folder, { clock });
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
    const { into, findings } = await repairedCopy(crashed, clock);
    expect((await venuesIn(into)).map(({ name }) => name)).toEqual(['Third']);
    expect(findings.map(({ section, lost }) => [section, lost])).toContainEqual(['changes', 1]);
  });

  it('does not restore a deleted row from an old version of a document', async () => {
    const folder = await temporaryFolder();
    const clock = new ManualClock();
    await inStore(folder, (first) => first.write((tx) => tx.put('venues', venueRow(1))));
    const store = await openStore(folder, { clock });
    await store.write((tx) => tx.delete('venues', venueRow(1).id));
    const crashed = await copyOf(folder);
    await store.close();
    await removeManifests(crashed);
    expect(await venuesIn((await repairedCopy(crashed, clock)).into)).toEqual([]);
  });

  it('recovers a folder with only events, starting at the first that retention left', async () => {
    const { folder, clock } = await fullStore();
    for (const file of await filesIn(folder)) {
      if (!file.startsWith('events/') || file === 'events/2026-11-20.ndjson')
        await rm(join(folder, file));
    }
    const { into, held } = await repairedCopy(folder, clock);
    expect(held.events).toEqual([3, 3, 4, 4, 5, 5, 6, 6]);
    const next = batchOf([impression(clock.now() + dayMs)]);
    expect(await inStore(into, (store) => store.appendBatch(next), { clock })).toBe('stored');
  });

  it('counts each play once if the first lines of documents are damaged', async () => {
    const { folder, clock } = await fullStore();
    const before = await inStore(await copyOf(folder), holdings, { clock });
    await removeManifests(folder);
    for (const file of await filesIn(folder)) {
      if (!/^documents\/(rollups|plays|rings|sequences)/.test(file)) continue;
      await writeFile(join(folder, file), flipped(await readFile(join(folder, file)), 0));
    }
    const { held, findings } = await repairedCopy(folder, clock);
    expect(held).toEqual(before);
    expect(findings.filter(({ lost }) => lost !== 0).map(({ file }) => file)).toEqual([
      'manifest.json',
    ]);
  });

  it('keeps the larger count, and says that it may lack plays, if older events are gone', async () => {
    const { folder, clock } = await fullStore();
    const before = await inStore(await copyOf(folder), holdings, { clock });
    await removeManifests(folder);
    for (const file of await filesIn(folder)) {
      if (file === 'events/2026-11-20.ndjson') await rm(join(folder, file));
      if (!/^documents\/plays-timestamp/.test(file)) continue;
      await writeFile(join(folder, file), flipped(await readFile(join(folder, file)), 0));
    }
    const { held, findings } = await repairedCopy(folder, clock);
    expect(held.timestamp).toEqual(before.timestamp);
    const about = findings.filter(({ section }) => section === 'plays');
    expect(about.length).toBeGreaterThan(1);
    for (const { lost, what } of about) {
      expect(lost).toBe(null);
      expect(what).toContain('it may lack some');
    }
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
      const { venues, screens, devices, playlists } = (await repairedDisk(disk, clock)).held;
      // The journal has those of the last day.
      for (const numbers of [venues, screens, devices, playlists])
        expect(numbers, about).toEqual(expect.arrayContaining([5, 6]));
    }
  });
});
