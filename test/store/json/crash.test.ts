import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { batchOf, guid, tenantA } from '../sample-batch.ts';
import { auditRow, pastPlaylistRow, screenRow, venueRow } from '../sample-rows.ts';
import { CrashDisk } from './crash-disk.ts';

const minuteMs = 60_000;

/** The changes that a run has attempted, and those acknowledged. */
interface Tally {
  attempted: number;
  acknowledged: number;
  batches: number;
}

const open = (disk: CrashDisk, clock: ManualClock) => openStore('memory:', { disk, clock });

/** Change `number` replaces a row, adds others and deletes one: all of it or nothing. */
function makeChange(store: Store, number: number): Promise<void> {
  return store.write(async (tx) => {
    await tx.put('venues', venueRow(0, { name: `Change ${number}` }));
    await tx.put('screens', screenRow(number));
    await tx.put('pastPlaylists', pastPlaylistRow(1, number));
    await tx.audit(auditRow(number));
    if (number > 1) await tx.delete('screens', guid('scre', number - 1));
  });
}

/** Waits for a background checkpoint. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 40; turn++) await setImmediate();
}

/** Runs changes, batches, checkpoints, a clean stop and a second start. */
async function live(disk: CrashDisk, tally: Tally): Promise<void> {
  const clock = new ManualClock();
  for (const lives of [1, 2]) {
    const store = await open(disk, clock);
    for (let turn = 0; turn < 3; turn++) {
      const changes = [1, 2].map(() =>
        makeChange(store, ++tally.attempted).then(() => tally.acknowledged++),
      );
      await Promise.all(changes);
      await store.appendBatch(
        batchOf([{ type: 'log', timestamp: lives }], { key: `${lives}-${turn}` }),
      );
      tally.batches++;
      clock.advance(minuteMs);
      await settle();
    }
    await store.close();
  }
}

/** Checks the state after a crash. */
async function check(disk: CrashDisk, { attempted, acknowledged, batches }: Tally): Promise<void> {
  const store = await open(disk, new ManualClock());
  const { items } = await store.list('venues', { limit: 2 });
  const last = Number(items[0]?.name.slice('Change '.length) ?? 0);
  expect(last).toBeGreaterThanOrEqual(acknowledged);
  expect(last).toBeLessThanOrEqual(attempted);
  const numbers = Array.from({ length: last }, (_, index) => index + 1);
  expect((await store.list('screens', { limit: 100 })).items).toEqual(
    last === 0 ? [] : [screenRow(last)],
  );
  const past = await store.read.select('pastPlaylists', 'screenId', [guid('scre', 1)]);
  expect(past.map((row) => row.version).sort((a, b) => a - b)).toEqual(numbers);
  const audit = await store.audit({ tenantIds: [tenantA], limit: 100 });
  expect(audit.items).toEqual(numbers.map((number) => auditRow(number)).toReversed());
  const events = await store.events({ tenantId: tenantA, order: 'asc', limit: 100 });
  expect(events.items.length).toBeGreaterThanOrEqual(batches);
  expect(events.items.length).toBeLessThanOrEqual(batches + 1);
  await makeChange(store, last + 1);
  await store.close();
}

describe('a crash at any step', () => {
  /** Number of disk changes in a complete run. */
  const wholeLife = async () => {
    const disk = new CrashDisk();
    await live(disk, { attempted: 0, acknowledged: 0, batches: 0 });
    return disk.changes;
  };

  it('leaves every acknowledged change, and no partial change', async () => {
    const steps = await wholeLife();
    expect(steps).toBeGreaterThan(200);
    for (let failAt = 1; failAt <= steps; failAt++) {
      const disk = new CrashDisk();
      const tally = { attempted: 0, acknowledged: 0, batches: 0 };
      disk.failAt = failAt;
      await live(disk, tally).catch(() => undefined);
      for (const after of [
        disk.afterKill(),
        disk.afterPowerCut(0),
        disk.afterPowerCut(0.5),
        disk.afterPowerCut(1),
      ]) {
        await check(after, tally).catch((error: unknown) => {
          throw new Error(`after a crash at step ${failAt} of ${steps}`, { cause: error });
        });
      }
    }
  }, 120_000);

  it('never loses unsynced data that a later start has shown', async () => {
    const disk = new CrashDisk();
    const first = await open(disk, new ManualClock());
    await makeChange(first, 1);
    disk.before = (operation) => {
      if (operation === 'datasync' || operation === 'truncate') throw new Error('killed');
    };
    await expect(makeChange(first, 2)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(first.appendBatch(batchOf([{ type: 'log', timestamp: 1 }]))).rejects.toMatchObject(
      { code: 'unavailable' },
    );
    const killed = disk.afterKill();
    await open(killed, new ManualClock());
    const last = await open(killed.afterPowerCut(), new ManualClock());
    expect((await last.list('venues', { limit: 2 })).items[0]?.name).toBe('Change 2');
    expect((await last.events({ tenantId: tenantA, order: 'asc', limit: 10 })).items).toHaveLength(
      1,
    );
  });

  it('may happen again during recovery from the first', async () => {
    const steps = await wholeLife();
    for (let failAt = 7; failAt <= steps; failAt += 23) {
      const disk = new CrashDisk();
      const tally = { attempted: 0, acknowledged: 0, batches: 0 };
      disk.failAt = failAt;
      await live(disk, tally).catch(() => undefined);
      const left = disk.afterPowerCut(0.5);
      const sound = left.afterKill();
      await check(sound, tally);
      for (let again = 1; again <= sound.changes; again += 3) {
        const second = left.afterKill();
        second.failAt = again;
        await open(second, new ManualClock()).catch(() => undefined);
        await check(second.afterPowerCut(0.5), tally);
      }
    }
  }, 120_000);
});
