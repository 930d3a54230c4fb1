import { rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../../../src/store/location/open.ts';
import { filesIn } from '../damages.ts';
import { fullStore } from '../full-store.ts';
import { changeManifest, contentsOf } from '../store-folder.ts';

/**
 * Returns a folder after a crash, where a document of this kind contains more records than its log.
 */
async function folderWithNewerDocument(kind: string): Promise<string> {
  const { folder } = await fullStore('crashed');
  await changeManifest(folder, ({ documents }) => {
    const name = Object.keys(documents).find((one) => one.startsWith(kind)) as string;
    documents[name]!.seq += 900;
  });
  return folder;
}

const damaged = (...parts: string[]) =>
  expect.objectContaining({
    code: 'store_damaged',
    message: expect.stringMatching(new RegExp(parts.join('.*'))),
  });

describe('a log that ends before the last record of a document', () => {
  // A checkpoint may include records that arrive meanwhile. The log position in the manifest is
  // older.
  it.each([
    ['rows-screens', 'journal/\\d+-000002.log'],
    ['disk', 'journal/\\d+-000002.log'],
    ['rings', 'events/2026-11-22.ndjson'],
    ['rollups-received', 'events/2026-11-22.ndjson'],
  ])('is damaged, also after a crash (%s)', async (kind, file) => {
    const folder = await folderWithNewerDocument(kind);
    const before = await contentsOf(folder);
    await expect(openStore(folder)).rejects.toEqual(
      damaged(file, 'record 9\\d\\d', kind, 'is missing'),
    );
    expect(await contentsOf(folder)).toEqual(before);
  });

  it('is damaged if it has no file left', async () => {
    const folder = await folderWithNewerDocument('rows-screens');
    const segments = (await filesIn(folder)).filter((file) => file.startsWith('journal'));
    for (const file of segments) await rm(join(folder, file));
    await changeManifest(folder, ({ marks }) => {
      delete marks.journal;
    });
    await expect(openStore(folder)).rejects.toEqual(damaged('journal: ', 'is missing'));
  });

  it('is not damaged by activity documents, which have no log', async () => {
    const folder = await folderWithNewerDocument('marks');
    await (await openStore(folder)).close();
  });
});

describe('a log that has lost records that no document contains', () => {
  it('is indistinguishable from an earlier crash', async () => {
    const { folder: crashed } = await fullStore('crashed');
    const last = (await filesIn(crashed)).findLast((file) => file.startsWith('journal')) as string;
    const text = (await contentsOf(crashed))[last] as string;
    await truncate(join(crashed, last), text.lastIndexOf('\n', text.length - 2) + 1);
    await (await openStore(crashed)).close();
  });
});
