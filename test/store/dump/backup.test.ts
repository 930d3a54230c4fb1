import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dayMs, iso, minuteMs } from '../../../src/domain/clock.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { batchOf, guid, impression } from '../sample-batch.ts';
import { venueRow } from '../sample-rows.ts';
import { add, backUpUnderLoad, bytesOf, recordsIn, restored, shown } from './backup-load.ts';

async function filled(count: number) {
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const store = await openStore(folder, { clock });
  for (let number = 1; number <= count; number++) await add(store, clock, number);
  return { folder, clock, store };
}

/**
 * A backup larger than what is packed ahead of its reader, who has not read yet. Most of it was
 * received two days ago, as was an audit entry.
 */
async function large(place = 'memory:') {
  const clock = new ManualClock();
  const store = await openStore(place, { clock });
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

describe('a backup', () => {
  it.each([
    ['data folder', temporaryFolder],
    ['database', freshDatabase],
  ])(
    'has everything acknowledged before it was requested, and no partial change, on a busy %s',
    {
      timeout: 120_000,
    },
    async (_, place) => {
      const load = { clock: new ManualClock(), rounds: 2, perRound: 20 };
      await backUpUnderLoad({ place: await place(), ...load });
    },
  );

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

  it.each([
    ['data folder', temporaryFolder],
    ['database', freshDatabase],
  ])('is refused while four others of a %s are read', async (_, place) => {
    const store = await openStore(await place());
    const open = await Promise.all([1, 2, 3, 4].map(() => store.backup()));
    const refusal = { code: 'unavailable', retryAfterSeconds: 60 };
    await expect(store.backup()).rejects.toMatchObject(refusal);
    await open[0]?.cancel();
    await expect.poll(async () => (await store.backup()) !== undefined).toBe(true);
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
    const { clock, store, stream } = await large(folder);
    const hasOld = async () => (await readdir(join(folder, 'audit'))).includes('2026-11-20.ndjson');
    const reader = stream.getReader();
    await reader.read();
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

  it('is text: the head, the sections in order, and the counts', async () => {
    const { store, clock } = await filled(1);
    const records = recordsIn(await bytesOf(await store.backup()));
    const secret = Buffer.from(store.secret).toString('hex');
    await store.close();
    expect(records[0]).toEqual({
      dump: { format: 2, store: expect.stringMatching(/^[0-9a-f]{16}$/), at: iso(clock.now()) },
    });
    expect(records[1]).toMatchObject({ section: 'server', row: { secret } });
    const sections = records.slice(1, -1).map(({ section }) => section);
    expect(sections.filter((one, at) => one !== sections[at - 1])).toEqual([
      ...['server', 'batches', 'idempotency', 'impressions', 'audit'],
      ...['venues', 'screens', 'playlists', 'pastPlaylists'],
    ]);
    expect(records.at(-1)).toMatchObject({ end: { counts: { batches: 1, playlists: 1 } } });
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
