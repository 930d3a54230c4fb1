import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkFolder } from '../../../../src/store/json/check/check-folder.ts';
import { openStore } from '../../../../src/store/location/open.ts';
import { checkStore } from '../../../../src/store/maintenance/check.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { damagedDisk, damagesOf, filesIn } from '../damages.ts';
import { fullStore } from '../full-store.ts';
import { contextOn } from '../part-rig.ts';
import { changeManifest, contentsOf, copyOf, forgeDocument } from '../store-folder.ts';

describe('a check of a stopped store', () => {
  let folder: string;
  beforeAll(async () => {
    folder = (await fullStore()).folder;
  });

  it('finds no damage in any kind of file, and changes nothing', async () => {
    const files = await filesIn(folder);
    const kinds = [
      'rows-tenants',
      'rows-venues',
      'rows-screens',
      'rows-playlists',
      'disk-pastPlaylists-',
      'marks-',
      'rings-',
      'rollups-',
    ];
    for (const kind of kinds)
      expect(
        files.filter((file) => file.startsWith(`documents/${kind}`)).length,
        kind,
      ).toBeGreaterThan(0);
    for (const log of ['events', 'audit'])
      expect(files.filter((file) => file.startsWith(log))).toHaveLength(3);
    const before = await contentsOf(folder);
    expect(await checkStore(folder)).toEqual([]);
    expect(await contentsOf(folder)).toEqual(before);
  });

  it('names the damaged file, wherever the damage is', async () => {
    const contents = await contentsOf(folder);
    // test/faults/disk damages each file in every place.
    const damages = (await damagesOf(folder)).filter((_, at) => at % 5 === 0);
    const unseen: string[] = [];
    for (const damage of damages) {
      const findings = await checkFolder(
        contextOn(await damagedDisk(contents, damage), new ManualClock()),
      );
      if (!findings.some(({ level, file }) => level === 'damage' && file === damage.file))
        unseen.push(`${damage.file}: ${damage.what}: ${JSON.stringify(findings)}`);
    }
    expect(unseen).toEqual([]);
    expect(damages.length).toBeGreaterThan(40);
  });

  it('reports all damage at once, with its location', async () => {
    const copy = await copyOf(folder);
    const [first = '', second = ''] = (await filesIn(copy)).filter((file) =>
      file.startsWith('events/'),
    );
    const text = (await contentsOf(copy))[first] ?? '';
    const place = text.indexOf('\n') + 1;
    await writeFile(join(copy, first), `${text.slice(0, place + 30)}X${text.slice(place + 31)}`);
    await rm(join(copy, second));
    await writeFile(join(copy, 'secret'), `${'ab'.repeat(32)}\n`);
    const findings = await checkStore(copy);
    expect(findings.map(({ file, offset }) => [file, offset])).toEqual([
      ['secret', null],
      [second, null],
      [first, place],
    ]);
  });
});

const lastSegment = async (folder: string) =>
  (await filesIn(folder)).filter((file) => file.startsWith('journal')).at(-1) ?? '';

describe('a check of a stopped store with added data', () => {
  it.each([
    ['events/2026-11-22.ndjson', 'events/2026-11-29.ndjson', 2],
    ['audit/2026-11-22.ndjson', 'audit/2026-11-29.ndjson', 2],
    ['events/2026-11-22.ndjson', 'audit/2026-11-29.ndjson', 2],
    ['audit/2026-11-22.ndjson', 'events/2026-11-29.ndjson', 2],
    ['audit/2026-11-22.ndjson', 'journal/0000000000000900-000009.log', 2],
    ['secret', 'journal/0000000000000900-000009.log', 1],
  ])('reports a copy of %s as %s', async (from, to, lines) => {
    const copy = (await fullStore()).folder;
    await cp(join(copy, from), join(copy, to));
    const findings = await checkStore(copy);
    const damage = { level: 'damage', section: null, file: to, lost: 0 };
    expect(findings).toEqual([
      { ...damage, offset: null, what: 'it was written after the store was stopped' },
      ...Array.from({ length: lines }, () => ({
        ...damage,
        offset: expect.any(Number),
        what: 'this is not a record of this log',
      })),
    ]);
  });

  it('reports appended data in existing files', async () => {
    const copy = (await fullStore()).folder;
    for (const name of [
      'events/2026-11-22.ndjson',
      'events/2026-11-20.ndjson',
      'audit/2026-11-22.ndjson',
      await lastSegment(copy),
    ]) {
      const bytes = await readFile(join(copy, name));
      await writeFile(join(copy, name), bytes.subarray(bytes.lastIndexOf('\n', -2) + 1), {
        flag: 'a',
      });
      const findings = await checkStore(copy);
      expect(findings).toContainEqual({
        level: 'damage',
        section: null,
        file: name,
        offset: bytes.length,
        lost: 0,
        what: 'more was written after the store was stopped',
      });
    }
  });
});

describe('a check of a store after a crash', () => {
  it('notes a torn write, which is not damage', async () => {
    const { folder: crashed } = await fullStore('crashed');
    expect(await checkStore(crashed)).toEqual([]);
    const tails = (await filesIn(crashed)).filter((file) => /^(journal|events)/.test(file));
    const torn = [
      tails.at(-1),
      tails.filter((file) => file.startsWith('events')).at(-1),
    ] as string[];
    for (const file of torn) await writeFile(join(crashed, file), '{"crc":"12', { flag: 'a' });
    const findings = await checkStore(crashed);
    expect(findings.map(({ level, file }) => [level, file])).toEqual(
      torn.map((file) => ['note', file]),
    );
    await (await openStore(crashed)).close();
    expect((await checkStore(crashed)).filter(({ level }) => level === 'damage')).toEqual([]);
  });

  it.each([
    ['events/2026-11-22.ndjson', 'record 6 is damaged or missing', 'batches', 1],
    ['journal', 'record 7 is damaged or missing', null, 0],
  ])(
    'names the damaged last record of %s, if the manifest covers it',
    async (file, what, section, lost) => {
      const { folder } = await fullStore();
      await changeManifest(folder, (manifest) => {
        manifest.clean = false;
      });
      const name = file === 'journal' ? await lastSegment(folder) : file;
      const bytes = await readFile(join(folder, name));
      bytes[bytes.length - 9] = 0x00;
      await writeFile(join(folder, name), bytes);
      const offset = bytes.lastIndexOf('\n', -2) + 1;
      expect(await checkStore(folder)).toEqual([
        { level: 'damage', section, file: name, offset, lost, what },
      ]);
    },
  );

  it('finds no damage after interrupted retention', async () => {
    const { folder: crashed } = await fullStore('crashed');
    await rm(join(crashed, 'events', '2026-11-20.ndjson'));
    expect(await checkStore(crashed)).toEqual([]);
    const { folder, clock } = await fullStore('crashed');
    const store = await openStore(folder, { clock });
    const former = await readFile(join(folder, 'audit', '2026-11-20.ndjson'));
    await store.purgeBefore(clock.now());
    await store.close();
    // As after a crash between the signed start of the chain and the deletion.
    const cut = await copyOf(folder);
    await writeFile(join(cut, 'audit', '2026-11-20.ndjson'), former);
    expect(await checkStore(cut)).toEqual([]);
    expect(await filesIn(join(folder, 'events'))).toHaveLength(1);
    expect(await checkStore(folder)).toEqual([]);
  });
});

describe('a check', () => {
  it('is rejected while the folder is in use, with a hint', async () => {
    const { folder } = await fullStore();
    const store = await openStore(folder);
    await expect(checkStore(folder)).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringContaining('take a backup'),
    });
    await store.close();
  });

  it('reports why a start would fail although each file is intact', async () => {
    const { folder } = await fullStore();
    await forgeDocument(folder, 'toys-00', ['{}']);
    expect(await checkStore(folder)).toEqual([
      expect.objectContaining({ file: '.', what: expect.stringContaining('toys-00') }),
    ]);
  });

  it('uses the copy when the manifest is missing, and needs one of them', async () => {
    const { folder } = await fullStore();
    await rm(join(folder, 'manifest.json'));
    const segment = await lastSegment(folder);
    await rm(join(folder, segment));
    const findings = await checkStore(folder);
    expect(findings.map(({ level, file }) => [level, file])).toEqual([
      ['damage', 'manifest.json'],
      ['note', 'manifest.copy.json'],
      ['damage', segment],
    ]);
    await rm(join(folder, 'manifest.copy.json'));
    expect((await checkStore(folder)).map(({ file }) => file)).toEqual(['manifest.json']);
  });

  it('is rejected for data of another format', async () => {
    const { folder } = await fullStore();
    await changeManifest(folder, (manifest) => {
      manifest.format = 1;
    });
    await expect(checkStore(folder)).rejects.toMatchObject({ code: 'store_other_format' });
  });

  it('is rejected for a folder that is not a data folder', async () => {
    await expect(checkStore(await temporaryFolder())).rejects.toMatchObject({
      code: 'invalid_option',
    });
    await expect(checkStore('/nowhere/at/all')).rejects.toMatchObject({ code: 'invalid_option' });
  });
});
