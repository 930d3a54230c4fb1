import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openStore } from '../../src/store/location/open.ts';
import { checkStore } from '../../src/store/maintenance/check.ts';
import { repairStore } from '../../src/store/maintenance/repair.ts';
import { restoreStore } from '../../src/store/maintenance/restore.ts';
import { type Section, section } from '../../src/store/section.ts';
import { sections, type TableName, tableNames } from '../../src/store/sections.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { freshDatabase } from '../support/postgres/postgres.ts';
import { inStore } from '../support/service/in-store.ts';
import { bytesOf, streamOf } from './dump/backup-load.ts';
import { filesIn } from './json/damages.ts';

const row = z.strictObject({
  id: z.string(),
  tenantId: z.string(),
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  mood: z.enum(['good', 'bad']),
});
type Note = z.infer<typeof row>;

/** A section that is only stored, and the same section with all that can be said of it. */
const document = () => 'rows-notes';
const plain = section({ row, document });
const full = section({
  row,
  unique: { name: (note) => `${note.tenantId}/${note.name}` },
  indexed: ['tenantId'],
  listed: true,
  filters: ['mood'],
  multiple: { label: ({ labels }) => Object.values(labels) },
  topic: (id) => `notes/${id}`,
  document,
});

const registry = sections as unknown as Record<string, Section>;
// The types know only the sections of the product.
const notes = 'notes' as 'screens';
const names = tableNames as string[];

function describeNotes(one: typeof plain | typeof full): void {
  registry.notes = one as unknown as Section;
}

const note = (number: number, more: Partial<Note> = {}): Note => ({
  id: `note-${number}`,
  tenantId: 'tenant',
  name: `Note ${number}`,
  labels: {},
  mood: 'good',
  ...more,
});
const put = (store: Store, ...rows: Note[]) =>
  store.write(async (tx) => {
    for (const one of rows) await tx.put(notes as TableName, one as never);
  });

describe.each([
  ['the embedded store', () => temporaryFolder()],
  ['PostgreSQL', () => freshDatabase()],
])('a section added at run time, in %s', (name, makePlace) => {
  let place: string;
  beforeEach(async () => {
    place = await makePlace();
    names.push('notes');
  });
  afterEach(() => {
    names.pop();
    delete registry.notes;
  });

  it('is stored, found, listed and watched, across a restart', async () => {
    describeNotes(full);
    const store = await openStore(place);
    const woken: string[] = [];
    store.watch('notes/note-2', (topic) => woken.push(topic));
    await put(store, note(3), note(1, { labels: { floor: '2' } }), note(2, { mood: 'bad' }));
    await expect(put(store, note(4, { name: 'Note 1' }))).rejects.toMatchObject({
      code: 'conflict',
      existingId: 'note-1',
    });
    await store.close();
    const again = await openStore(place);
    const { read } = again;
    const list = async (query: object) =>
      (await again.list(notes, { limit: 9, ...query })).items.map(({ id }) => id);
    expect(woken).toEqual(['notes/note-2']);
    expect(await read.get(notes, 'note-2')).toEqual(note(2, { mood: 'bad' }));
    expect(await read.find(notes, 'name', 'tenant/Note 3')).toEqual(note(3));
    expect(await read.count(notes, 'tenantId', 'tenant')).toBe(3);
    expect(await list({})).toEqual(['note-1', 'note-2', 'note-3']);
    expect(await list({ where: { tenantId: 'tenant', mood: 'good' } })).toEqual([
      'note-1',
      'note-3',
    ]);
    expect(await list({ labels: { floor: '2' }, search: 'NOTE' })).toEqual(['note-1']);
    await again.close();
  });

  it('is in a backup, which is restored into either kind of store', async () => {
    describeNotes(full);
    const store = await openStore(place);
    await put(store, note(2, { mood: 'bad' }), note(1, { labels: { floor: '2' } }));
    const backup = await bytesOf(await store.backup());
    await store.close();
    for (const target of [join(await temporaryFolder(), 'data'), await freshDatabase()]) {
      const { counts } = await restoreStore(streamOf(backup), target);
      expect(counts).toEqual({ server: 1, notes: 2 });
      const restored = await openStore(target);
      expect((await restored.list(notes, { limit: 9 })).items).toEqual([
        note(1, { labels: { floor: '2' } }),
        note(2, { mood: 'bad' }),
      ]);
      await restored.close();
    }
  });

  // A data folder can be damaged. PostgreSQL has its own checks.
  it.runIf(name === 'the embedded store')('is checked and repaired', async () => {
    describeNotes(full);
    const store = await openStore(place);
    await put(store, note(1), note(2));
    await store.close();
    await inStore(place, (again) => put(again, note(3)));
    expect(await checkStore(place)).toEqual([]);
    const [file = ''] = (await filesIn(place)).filter((one) => one.includes('rows-notes'));
    const path = join(place, file);
    const text = await readFile(path, 'utf8');
    // The new name has no checksum, and the journal of the first start is gone.
    await writeFile(path, text.replace('Note 2', 'Note 7'));
    const offset = text.lastIndexOf('\n', text.indexOf('Note 2')) + 1;
    const damage = expect.objectContaining({ level: 'damage', file, offset, lost: 1 });
    expect(await checkStore(place)).toEqual([damage]);
    const into = join(await temporaryFolder(), 'new');
    await repairStore(place, into);
    const { items } = await inStore(into, (again) => again.list(notes, { limit: 9 }));
    expect(items).toEqual([note(1), note(3)]);
  });

  it('gets its keys and indexes for rows that were stored before', async () => {
    describeNotes(plain);
    const store = await openStore(place);
    const labels = (number: number) => ({ half: `${Math.floor(number / 2)}`, own: `-${number}` });
    await put(
      store,
      ...Array.from({ length: 60 }, (_, number) => note(number, { labels: labels(number) })),
    );
    await store.close();
    describeNotes(full);
    const again = await openStore(place);
    expect(await again.read.find(notes, 'name', 'tenant/Note 59')).toEqual(
      note(59, { labels: labels(59) }),
    );
    expect(await again.read.count(notes, 'tenantId', 'tenant')).toBe(60);
    const ids = await again.read.ids(notes, 'label' as never, ['7', '-3', 'none']);
    expect([...ids].sort()).toEqual(['note-14', 'note-15', 'note-3']);
    await expect(put(again, note(60, { name: 'Note 7' }))).rejects.toMatchObject({
      code: 'conflict',
    });
    const { items } = await again.list(notes, { limit: 100, search: 'note 5' });
    expect(items).toHaveLength(11);
    await again.close();
  });
});
