import { describe, expect, it } from 'vitest';
import { dayMs, minuteMs } from '../../../../src/domain/clock.ts';
import type { TelemetryEvent } from '../../../../src/domain/events/event.ts';
import type { FileSystem } from '../../../../src/store/json/disk/file-system.ts';
import { isValidRecord } from '../../../../src/store/json/log/frame.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { batchOf, guid, impression, tenantA } from '../../sample-batch.ts';
import { CrashDisk } from '../crash-disk.ts';
import { contextOn, type LogRig, openLog } from '../part-rig.ts';

const log = (n: number): TelemetryEvent => ({ type: 'log', timestamp: 1_760_000_000, n });
const day20 = '/data/events/2026-11-20.ndjson';
const day21 = '/data/events/2026-11-21.ndjson';

async function numbers(rig: LogRig): Promise<unknown[]> {
  const { items } = await rig.log.page({ tenantId: tenantA, order: 'asc', limit: 200 });
  return items.map(({ event }) => event.n);
}

/** A log on a disk of its own. `again` reopens it. */
async function opened({ disk = new CrashDisk(), clock = new ManualClock() } = {}) {
  const context = contextOn(disk, clock);
  const rig = await openLog(context);
  const again = async (on: FileSystem = disk.afterKill()) => openLog(contextOn(on, clock));
  return { disk, clock, rig, context, again };
}

const seqs = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).seq);

describe('the lines of a day file', () => {
  it('have a checksum, a number, an id, the sender, and the bytes sent', async () => {
    const { disk, rig } = await opened();
    const body = Buffer.from('[{"type":"log", "timestamp":1760000000}]');
    await rig.log.append({ ...batchOf([log(1)], { key: 'one' }), body });
    await rig.log.append(batchOf([log(2)]));
    const [first = '', second = ''] = disk.text(day20).split('\n');
    expect(first).toMatch(
      new RegExp(
        `^{"crc":"[0-9a-f]{8}","seq":1,"id":"[0-9a-f-]{36}","receivedAt":${Date.UTC(2026, 10, 20, 12)},"tenantId":"${tenantA}","venueId":"${guid('venu', 1)}"` +
          `,"screenId":"${guid('scre', 1)}","deviceId":"${guid('devi', 1)}","key":"[0-9a-f]{16}","sent":"[0-9a-f]{16}","events":`,
      ),
    );
    expect(first.endsWith(`"events":${body}}`)).toBe(true);
    expect(isValidRecord(Buffer.from(first))).toBe(true);
    expect(JSON.parse(second)).not.toHaveProperty('key');
    expect(JSON.parse(first).id).toBe(
      (await rig.log.page({ tenantId: tenantA, order: 'asc', limit: 1 })).items[0]?.id,
    );
  });

  it('go to the file of the day of receipt, with consecutive numbers', async () => {
    const { disk, clock, rig } = await opened();
    for (let day = 0; day < 2; day++) {
      await Promise.all([
        rig.log.append(batchOf([log(2 * day)])),
        rig.log.append(batchOf([log(2 * day + 1)])),
      ]);
      clock.advance(dayMs);
    }
    expect(seqs(disk.text(day20))).toEqual([1, 2]);
    expect(seqs(disk.text(day21))).toEqual([3, 4]);
    expect(await numbers(rig)).toEqual([0, 1, 2, 3]);
  });

  it('never step back in time, whatever the clock does, also after a restart', async () => {
    const { disk, clock, rig, again } = await opened();
    await rig.log.append(batchOf([log(1)]));
    const first = clock.now();
    clock.set(first - 3 * dayMs);
    await rig.log.append(batchOf([log(2)]));
    await rig.close();
    const next = await again(disk);
    await next.log.append(batchOf([log(3)]));
    const { items } = await next.log.page({ tenantId: tenantA, order: 'asc', limit: 9 });
    expect(items.map(({ receivedAt }) => receivedAt)).toEqual([first, first, first]);
  });
});

describe('a batch that fails', () => {
  it('throws unavailable, stores nothing, and leaves its key unused', async () => {
    const { disk, rig, again } = await opened();
    await rig.log.append(batchOf([log(1)]));
    disk.free = 10;
    const batch = batchOf([log(2)], { key: 'two' });
    const answers = await Promise.allSettled([
      rig.log.append(batch),
      rig.log.append(batch),
      rig.log.append(batchOf([log(3)])),
    ]);
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    expect(await numbers(rig)).toEqual([1]);
    disk.free = 1e9;
    expect(await rig.log.append(batch)).toBe('stored');
    expect(seqs(disk.text(day20))).toEqual([1, 2]);
    expect(await numbers(await again())).toEqual([1, 2]);
  });

  it('fails a concurrent one with the same key and other bytes', async () => {
    const { disk, rig } = await opened();
    disk.free = 10;
    const answers = await Promise.allSettled(
      [1, 2].map((n) => rig.log.append(batchOf([log(n)], { key: 'one' }))),
    );
    for (const answer of answers) expect(answer).toMatchObject({ reason: { code: 'unavailable' } });
  });

  it('leaves no empty file at the stop if it was the first of its day', async () => {
    const { disk, rig, again } = await opened();
    disk.before = (operation) => {
      if (operation === 'write') throw new Error('EIO');
    };
    await expect(rig.log.append(batchOf([log(1)]))).rejects.toMatchObject({ code: 'unavailable' });
    disk.before = () => {};
    await rig.close();
    expect(disk.paths()).not.toContain(day20);
    expect(await numbers(await again(disk))).toEqual([]);
  });

  it('throws unavailable before the start and after the stop', async () => {
    const { rig } = await opened();
    await rig.close();
    await expect(rig.log.append(batchOf([log(1)]))).rejects.toMatchObject({ code: 'unavailable' });
    const { EventLog } = await import('../../../../src/store/json/events/event-log.ts');
    const unborn = new EventLog(contextOn(new CrashDisk(), new ManualClock()));
    await expect(unborn.append(batchOf([log(1)]))).rejects.toMatchObject({ code: 'unavailable' });
    expect(unborn.log.broken).toBeUndefined();
    await unborn.close();
  });
});

describe('a start of the event log', () => {
  /** Three batches on two days; the documents contain the first two. */
  async function filled() {
    const all = await opened();
    await all.rig.log.append(batchOf([impression(0)], { key: 'one' }));
    await all.rig.log.append(batchOf([log(2)], { key: 'two' }));
    all.clock.advance(minuteMs);
    await all.rig.checkpoint();
    await all.rig.log.append(batchOf([log(3)], { key: 'three' }));
    all.clock.advance(dayMs);
    await all.rig.log.append(batchOf([log(4), impression(0)], { key: 'four' }));
    return all;
  }

  it('replays keys and reports after a crash', async () => {
    const { again } = await filled();
    const rig = await again();
    for (const [n, key] of ['one', 'two', 'three', 'four'].entries()) {
      const events = [[impression(0)], [log(2)], [log(3)], [log(4), impression(0)]][n] ?? [];
      expect(await rig.log.append(batchOf(events, { key }))).toBe('repeated');
    }
    const report = await rig.log.impressions({
      tenantId: tenantA,
      groupBy: 'day',
      by: 'timestamp',
    });
    expect(report).toEqual([{ key: '1970-01-01', impressions: 2, seconds: 0 }]);
    await rig.log.append(batchOf([log(5)]));
    expect(await numbers(rig)).toEqual([undefined, 2, 3, 4, undefined, 5]);
  });

  it('reads only events that no document contains', async () => {
    const { disk, clock, rig, again } = await opened();
    for (let n = 0; n < 50; n++)
      await rig.log.append(batchOf([{ ...log(n), text: 'x'.repeat(5000) }]));
    clock.advance(minuteMs);
    await rig.checkpoint();
    await rig.log.append(batchOf([log(50)]));
    const after = disk.afterKill();
    after.readBytes = 0;
    const next = await again(after);
    expect(after.readBytes).toBeLessThan(5000);
    expect(await numbers(next)).toHaveLength(51);
  });

  it('deletes a file without a whole record', async () => {
    const { disk, clock } = await filled();
    for (const contents of ['', '{"crc":"00']) {
      const after = disk.afterKill();
      after.plant('/data/events/2026-11-22.ndjson', contents);
      const next = await openLog(contextOn(after, clock));
      expect(after.paths()).not.toContain('/data/events/2026-11-22.ndjson');
      expect(await numbers(next)).toEqual([undefined, 2, 3, 4, undefined]);
      await next.log.append(batchOf([log(5)]));
      expect(seqs(after.text(day21))).toEqual([4, 5]);
    }
  });

  const flip = (text: string, at: number) =>
    `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`;
  const lines = (disk: CrashDisk, path: string) => disk.text(path).split(/(?<=\n)/);

  it.each<[string, (disk: CrashDisk) => void, RegExp]>([
    [
      'a damaged record before others',
      (disk) => disk.plant(day20, disk.text(day20).replace(/"n":3/, '"n":9')),
      /2026-11-20.ndjson, at byte \d+: a record is damaged/,
    ],
    [
      'a damaged record in the newest file with a whole one behind it',
      (disk) => disk.plant(day21, `${flip(disk.text(day21), 300)}${lines(disk, day20)[2]}`),
      /2026-11-21.ndjson, at byte 0/,
    ],
    [
      'a torn record in a file that is not the newest',
      (disk) => disk.plant(day20, disk.text(day20).slice(0, -5)),
      /2026-11-20.ndjson, at byte \d+/,
    ],
    [
      'a missing file that the documents end in',
      (disk) => void disk.unlink(day20),
      /2026-11-20.ndjson: the file is missing/,
    ],
    [
      'a file shorter than the documents',
      (disk) => disk.plant(day20, lines(disk, day20)[0]!),
      /2026-11-20.ndjson, at byte \d+: it had \d+ bytes/,
    ],
    [
      'a batch that is missing',
      (disk) => disk.plant(day20, lines(disk, day20).slice(0, 2).join('')),
      /2026-11-21.ndjson, at byte 0: batch 3 must be here/,
    ],
    [
      'a batch that is there twice',
      (disk) => disk.plant(day21, disk.text(day21) + disk.text(day21)),
      /2026-11-21.ndjson, at byte \d+: batch 5 must be here/,
    ],
  ])('is rejected for %s, and changes nothing', async (_, harm, message) => {
    const { disk, again } = await filled();
    const after = disk.afterKill();
    harm(after);
    const before = after.paths().map((path) => [path, after.text(path)]);
    await expect(again(after)).rejects.toMatchObject({
      code: 'store_damaged',
      message: expect.stringMatching(message),
    });
    expect(after.paths().map((path) => [path, after.text(path)])).toEqual(before);
  });

  it.each<[string, (disk: CrashDisk) => void]>([
    ['bytes too many', (disk) => disk.plant(day21, `${disk.text(day21)}{`)],
    ['a batch too many', (disk) => disk.plant(day21, disk.text(day21) + disk.text(day21))],
    ['bytes too few', (disk) => disk.plant(day21, disk.text(day21).slice(0, -1))],
    ['a later file', (disk) => disk.plant('/data/events/2026-11-22.ndjson', '')],
    ['a missing file', (disk) => void disk.unlink(day21)],
  ])('after a clean stop is rejected for %s', async (_, harm) => {
    const { disk, rig, again } = await filled();
    await rig.close();
    const after = disk.afterKill();
    harm(after);
    await expect(again(after)).rejects.toMatchObject({ code: 'store_damaged' });
    expect(await numbers(await again(disk))).toEqual([undefined, 2, 3, 4, undefined]);
  });
});

describe('a checkpoint of the event log', () => {
  const marked = (disk: CrashDisk) => JSON.parse(disk.text('/data/manifest.json')).marks.events.seq;

  it('includes events once a minute, and at the stop', async () => {
    const { disk, clock, rig } = await opened();
    await rig.log.append(batchOf([impression(0)], { key: 'one' }));
    clock.advance(minuteMs - 1);
    await rig.checkpoint();
    expect(marked(disk)).toBe(0);
    expect(disk.paths().filter((path) => path.includes('rollups'))).toEqual([]);
    clock.advance(1);
    await rig.checkpoint();
    expect(marked(disk)).toBe(1);
    expect(disk.paths().filter((path) => path.includes('rollups'))).toHaveLength(2);
    await rig.log.append(batchOf([impression(0)], { key: 'two' }));
    await rig.close();
    expect(marked(disk)).toBe(2);
  });

  it('includes events when the clock has stepped back', async () => {
    const { disk, clock, rig } = await opened();
    await rig.log.append(batchOf([log(1)]));
    clock.set(0);
    await rig.checkpoint();
    expect(marked(disk)).toBe(1);
  });

  it('is requested once for 64 MiB that no document contains, and again at the next start', async () => {
    const { disk, rig, again } = await opened();
    const large = batchOf([{ ...log(1), text: 'x'.repeat(9 << 20) }]);
    for (let n = 0; n < 7; n++) await rig.log.append(large);
    expect(rig.log.takeCheckpointRequest()).toBe(false);
    for (let n = 0; n < 2; n++) await rig.log.append(large);
    expect(rig.log.takeCheckpointRequest()).toBe(true);
    const next = await again();
    expect(next.log.takeCheckpointRequest()).toBe(true);
    await rig.checkpoint();
    expect(marked(disk)).toBe(9);
    await rig.log.append(large);
    expect(rig.log.takeCheckpointRequest()).toBe(false);
  });
});

describe('purgeBefore of the event log', () => {
  /** One batch on each of four days. */
  async function fourDays() {
    const all = await opened();
    for (let n = 0; n < 4; n++) {
      if (n > 0) all.clock.advance(dayMs);
      await all.rig.log.append(batchOf([log(n), impression(0)]));
    }
    return all;
  }
  const files = (disk: CrashDisk) =>
    disk
      .paths()
      .filter((path) => path.startsWith('/data/events/'))
      .map((path) => path.slice(13, 23));
  const seen = async (rig: LogRig) => (await numbers(rig)).filter((n) => n !== undefined);

  it('deletes whole days before the time, which reports keep counting', async () => {
    const { disk, clock, rig, again } = await fourDays();
    await rig.checkpoint();
    await rig.log.purgeBefore(clock.now() - dayMs);
    expect(files(disk)).toEqual(['2026-11-22', '2026-11-23']);
    expect(await seen(rig)).toEqual([2, 3]);
    for (const one of [rig, await again()]) {
      expect(
        await one.log.impressions({ tenantId: tenantA, groupBy: 'day', by: 'timestamp' }),
      ).toMatchObject([{ impressions: 4 }]);
      expect(await seen(one)).toEqual([2, 3]);
    }
  });

  it('does nothing when no day is old enough', async () => {
    const { disk, clock, rig } = await fourDays();
    const before = disk.changes;
    await rig.log.purgeBefore(clock.now() - 3 * dayMs);
    expect(disk.changes).toBe(before);
    expect(await seen(rig)).toEqual([0, 1, 2, 3]);
  });

  it('immediately hides files whose deletion waits for a checkpoint', async () => {
    const { disk, clock, rig, again } = await fourDays();
    // The documents are empty so far: a start needs all files.
    await rig.log.purgeBefore(clock.now());
    expect(await seen(rig)).toEqual([3]);
    expect(files(disk)).toHaveLength(4);
    expect(rig.log.takeCheckpointRequest()).toBe(true);
    expect(await seen(await again())).toEqual([0, 1, 2, 3]);
    await rig.checkpoint();
    expect(files(disk)).toEqual(['2026-11-23']);
    expect(await seen(await again())).toEqual([3]);
  });

  it.each(['idle', 'crashed'])(
    'also deletes the newest file when its day is past (%s)',
    async (how) => {
      const { disk, clock, rig, again } = await fourDays();
      clock.advance(10 * dayMs);
      await rig.log.purgeBefore(clock.now() - dayMs);
      expect(await seen(rig)).toEqual([]);
      if (how === 'crashed') {
        disk.before = (operation) => {
          if (operation === 'unlink') throw new Error('crashed');
        };
      }
      await rig.checkpoint();
      expect(files(disk)).toHaveLength(how === 'idle' ? 0 : 4);
      const after = disk.afterKill();
      const next = await again(after);
      expect(files(after)).toEqual([]);
      // Even if the clock steps back to that day.
      clock.set(Date.UTC(2026, 10, 23, 12));
      await next.log.append(batchOf([log(5)]));
      expect(files(after)).toEqual(['2026-11-24']);
      expect(seqs(after.text('/data/events/2026-11-24.ndjson'))).toEqual([5]);
      await next.close();
      expect(await seen(await again(after))).toEqual([5]);
      disk.before = () => {};
      await rig.log.append(batchOf([log(5)]));
      expect(await seen(rig)).toEqual([5]);
      expect(await seen(await again())).toEqual([5]);
    },
  );

  it('leaves a store that reopens after deleting everything and a clean stop', async () => {
    const { clock, disk, rig, again } = await fourDays();
    clock.advance(dayMs);
    await rig.log.purgeBefore(clock.now());
    await rig.close();
    expect(files(disk)).toEqual([]);
    const next = await again(disk);
    expect(await seen(next)).toEqual([]);
    await next.log.append(batchOf([log(5)]));
    expect(seqs(disk.text('/data/events/2026-11-24.ndjson'))).toEqual([5]);
  });

  it('keeps the file of today, and the file of a write in flight', async () => {
    const { disk, clock, rig, again } = await fourDays();
    const writing = rig.log.append(batchOf([log(4)]));
    clock.advance(dayMs);
    const dropping = rig.log.purgeBefore(clock.now() + 100 * dayMs);
    const next = rig.log.append(batchOf([log(5)]));
    await Promise.all([writing, dropping, next]);
    expect(await seen(rig)).toEqual([5]);
    await rig.checkpoint();
    expect(files(disk)).toEqual(['2026-11-24']);
    expect(await seen(await again())).toEqual([5]);
  });

  it('tolerates a failing write in flight', async () => {
    const { disk, clock, rig } = await fourDays();
    disk.free = 10;
    const writing = rig.log.append(batchOf([log(4)]));
    const [written, dropped] = await Promise.allSettled([
      writing,
      rig.log.purgeBefore(clock.now()),
    ]);
    expect([written.status, dropped.status]).toEqual(['rejected', 'fulfilled']);
    expect(await seen(rig)).toEqual([3]);
  });
});
