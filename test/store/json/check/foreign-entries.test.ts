import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openFolderMediaStore } from '../../../../src/media/folder-media-store.ts';
import { openStore } from '../../../../src/store/location/open.ts';
import { checkStore } from '../../../../src/store/maintenance/check.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';
import { venueRow } from '../../sample-rows.ts';
import { fullStore } from '../full-store.ts';

const folders = ['documents', 'journal', 'events', 'audit', 'media', 'media/ab'];
const foreignFolders = ['@eaDir', 'lost+found', '.snapshot'];

/** Makes foreign folders and a foreign file in each of these folders. Returns their files. */
async function plantIn(folder: string, names: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const name of names) {
    for (const foreign of foreignFolders) {
      await mkdir(join(folder, name, foreign), { recursive: true });
      files.push(join(folder, name, foreign, 'file'));
    }
    files.push(join(folder, name, 'rows.json'));
  }
  for (const file of files) await writeFile(file, 'foreign');
  return files;
}

async function expectKept(files: readonly string[]): Promise<void> {
  for (const file of files) expect(await readFile(file, 'utf8'), file).toBe('foreign');
}

it('foreign entries in the folders of a store are left alone, and a check notes each', async () => {
  const { folder } = await fullStore();
  const files = await plantIn(folder, folders);
  const store = await openStore(folder);
  await store.write((tx) => tx.put('venues', venueRow(900)));
  await store.close();
  await expectKept(files);
  const findings = await checkStore(folder);
  expect(findings.filter(({ level }) => level !== 'note')).toEqual([]);
  const noted = findings.map(({ file }) => file);
  for (const name of folders)
    for (const foreign of [...foreignFolders, 'rows.json'])
      expect(noted).toContain(`${name}/${foreign}`);
  expect(noted).toHaveLength(folders.length * 4);
});

it('a store is created beside foreign entries', async () => {
  const folder = await temporaryFolder();
  const files = await plantIn(folder, folders.slice(0, 4));
  await mkdir(join(folder, '@eaDir'));
  await (await openStore(folder)).close();
  await expectKept(files);
});

it('a media folder keeps foreign entries', async () => {
  const folder = await temporaryFolder();
  const files = await plantIn(folder, ['', 'incomplete', 'parts', 'ab']);
  const own = join(folder, 'incomplete', '01a226b4-69c9-4000-b533-451f11a575a6-1000');
  await writeFile(own, 'cut');
  await mkdir(join(folder, 'parts/@tmp'));
  const media = await openFolderMediaStore(folder, { isShared: false });
  for (let round = 0; round < 5; round++) await media.sweep();
  await expectKept(files);
  await writeFile(join(folder, 'parts/@tmp/file'), '');
  await expect(readFile(own)).rejects.toThrow('ENOENT');
});
