import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Playlist } from '../../../../src/domain/records/rows.ts';
import { rowLine } from '../../../../src/store/json/rows/committed-rows.ts';
import { DiskRows } from '../../../../src/store/json/rows/disk-rows.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { guid, tenantA } from '../../sample-batch.ts';
import { CrashDisk } from '../crash-disk.ts';
import { contextOn, documentOf, openParts, recordsOf } from '../part-rig.ts';

const screen = (n: number) => guid('scre', n);
const rowId = (n: number, version: number) => `${screen(n)}/${version}`;

function row(n: number, version: number, more: Partial<Playlist> = {}): Playlist {
  return {
    screenId: screen(n),
    tenantId: tenantA,
    playlistId: guid('play', n),
    version,
    past: [],
    state: 'superseded',
    contentId: 'ü',
    validUntil: null,
    publishedAt: version,
    origin: 'published',
    hasMedia: false,
    noneSince: null,
    id: rowId(n, version),
    ...more,
  };
}

type Change = [id: string, row: Playlist | null];

/** A table, and the journal that replays its changes. */
async function opened(disk = new CrashDisk(), journal: Change[] = []) {
  const context = contextOn(disk, new ManualClock());
  const table = new DiskRows();
  const replay = () => {
    for (const [at, [id, one]] of journal.entries()) table.apply(at + 1, 'pastPlaylists', id, one);
  };
  const rig = await openParts(context, [], [table], replay);
  const change = (id: string, one: Playlist | null) => {
    journal.push([id, one]);
    table.apply(journal.length, 'pastPlaylists', id, one);
  };
  const documents = () => disk.paths().filter((path) => path.startsWith('/data/documents/disk-'));
  return {
    disk,
    table,
    rig,
    journal,
    change,
    documents,
    put: (one: Playlist) => change(one.id, one),
    remove: (id: string) => change(id, null),
  };
}

const versions = (rows: Playlist[]) => rows.map(({ screenId, version }) => [screenId, version]);

describe('rows', () => {
  it('are the same at every step of a checkpoint', async () => {
    const { disk, table, rig, put, remove } = await opened();
    for (const version of [1, 2, 3]) put(row(1, version));
    await rig.checkpoint();
    remove(rowId(1, 1));
    put(row(1, 4));
    const seen: Promise<Playlist[]>[] = [];
    disk.before = (operation) => {
      if (operation !== 'open' && operation !== 'readFile')
        seen.push(table.select('pastPlaylists', [screen(1)]));
    };
    await rig.checkpoint();
    disk.before = () => {};
    expect(seen.length).toBeGreaterThan(5);
    for (const rows of await Promise.all(seen))
      expect(rows.map(({ version }) => version)).toEqual([2, 3, 4]);
  });

  it('are read from the new document if the old one is deleted meanwhile', async () => {
    const { table } = await opened();
    const missing = () => Promise.reject(Object.assign(new Error('ENOENT'), { code: 'ENOENT' }));
    table.apply(1, 'pastPlaylists', rowId(1, 1), row(1, 1));
    const [name = ''] = table.dirty();
    const line = rowLine('pastPlaylists', row(1, 2));
    const bytes = () => {
      table.written(name, documentOf(line, { seq: 9 }));
      return missing();
    };
    table.written(name, documentOf('', { bytes, text: missing }));
    expect(versions(await table.select('pastPlaylists', [screen(1)]))).toEqual([
      [screen(1), 1],
      [screen(1), 2],
    ]);
    table.written(name, documentOf('', { bytes: missing, text: missing }));
    await expect(table.get('pastPlaylists', rowId(1, 1))).rejects.toMatchObject({
      code: 'unavailable',
      cause: { code: 'ENOENT' },
    });
  });

  it('are unavailable while the disk cannot be read, and available again afterwards', async () => {
    const { disk, table, rig, put } = await opened();
    put(row(1, 1));
    await rig.checkpoint();
    disk.before = (operation) => {
      if (operation === 'readFile')
        throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    };
    const unavailable = { code: 'unavailable', cause: { code: 'EIO' } };
    await expect(table.get('pastPlaylists', rowId(1, 1))).rejects.toMatchObject(unavailable);
    await expect(table.select('pastPlaylists', [screen(1)])).rejects.toMatchObject(unavailable);
    disk.before = () => {};
    expect(versions(await table.select('pastPlaylists', [screen(1)]))).toEqual([[screen(1), 1]]);
  });

  it('fail with store_damaged if their document is damaged', async () => {
    const { disk, table, rig, put, documents } = await opened();
    put(row(1, 1));
    await rig.checkpoint();
    const [path] = documents() as [string];
    disk.plant(path, disk.text(path).replace('superseded', 'superseden'));
    await expect(table.get('pastPlaylists', rowId(1, 1))).rejects.toMatchObject({
      code: 'store_damaged',
    });
  });
});

describe('the documents', () => {
  it('are sharded by screen, with one row per line, starting with its id, in order', async () => {
    const { disk, rig, put, documents } = await opened();
    for (const version of [3, 1, 2]) put(row(1, version));
    await rig.checkpoint();
    const [path = ''] = documents();
    expect(path).toMatch(/disk-pastPlaylists-[0-9a-f]{2}\.1\.json$/);
    const records = recordsOf(disk.text(path)) as [string, object][];
    expect(records).toEqual([1, 2, 3].map((version) => ['pastPlaylists', row(1, version)]));
    for (const [, one] of records) expect(Object.keys(one)[0]).toBe('id');
    const lone = documents();
    put(row(2, 1));
    await rig.checkpoint();
    expect(documents()).toHaveLength(2);
    expect(documents()).toContain(lone[0]);
  });

  it('are deleted when they are empty', async () => {
    const { rig, put, remove, documents, table } = await opened();
    put(row(1, 1));
    await rig.checkpoint();
    remove(rowId(1, 1));
    await rig.checkpoint();
    expect(documents()).toEqual([]);
    expect(await table.select('pastPlaylists', [screen(1)])).toEqual([]);
    remove(rowId(1, 1));
    await rig.checkpoint();
    expect(documents()).toEqual([]);
  });

  it('behave like a Map under random operations', async () => {
    const step = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({ screen: fc.nat(2), version: fc.nat(5), isPut: fc.boolean() }),
      },
      { weight: 2, arbitrary: fc.record({ failAt: fc.option(fc.nat(12), { nil: undefined }) }) },
      { weight: 1, arbitrary: fc.constant('crash' as const) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const model = new Map<string, Playlist>();
        let now = await opened();
        for (const one of steps) {
          if (one === 'crash') now = await opened(now.disk.afterPowerCut(), now.journal);
          else if ('isPut' in one) {
            const made = row(one.screen, one.version, { publishedAt: now.journal.length });
            now.change(made.id, one.isPut ? made : null);
            if (one.isPut) model.set(made.id, made);
            else model.delete(made.id);
          } else {
            if (one.failAt !== undefined) now.disk.failAt = now.disk.changes + one.failAt;
            await now.rig.checkpoint().catch(() => undefined);
            now.disk.failAt = Number.POSITIVE_INFINITY;
          }
          const rows = await now.table.select('pastPlaylists', [0, 1, 2, 0].map(screen));
          expect(rows).toEqual(
            [...model.values()].sort((left, right) => (left.id < right.id ? -1 : 1)),
          );
          expect(await now.table.get('pastPlaylists', rowId(1, 1))).toEqual(model.get(rowId(1, 1)));
        }
      }),
      { numRuns: 60 },
    );
  });
});
