import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '../../../../src/domain/clock.ts';
import { eventPosition } from '../../../../src/domain/events/event-id.ts';
import type { AuditEntry } from '../../../../src/domain/records/audit.ts';
import { AuditTrail } from '../../../../src/store/json/audit/audit-trail.ts';
import { isValidRecord } from '../../../../src/store/json/log/frame.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { allPages } from '../../../support/service/all-pages.ts';
import { guid, tenantA, tenantB } from '../../sample-batch.ts';
import { CrashDisk } from '../crash-disk.ts';
import { contextOn, openParts } from '../part-rig.ts';

const noon = Date.UTC(2026, 10, 20, 12);
const day20 = '/data/audit/2026-11-20.ndjson';
const day21 = '/data/audit/2026-11-21.ndjson';

function entry(n: number, at = noon, more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id: guid('audi', n),
    tenantId: tenantA,
    at,
    actor: { kind: 'system', id: null, name: null },
    action: n % 2 === 0 ? 'screen.create' : 'screen.delete',
    subject: { kind: 'screen', id: guid('scre', n % 3) },
    address: null,
    requestId: null,
    details: { n },
    ...more,
  };
}

/** Entries in the journal, which it would replay. */
type Journal = { seq: number; entries: AuditEntry[] }[];

const link = { writer: '0'.repeat(16), seq: 1, mac: '0'.repeat(64) };

async function opened(disk = new CrashDisk(), clock = new ManualClock(), journal: Journal = []) {
  const context = contextOn(disk, clock);
  const trail = new AuditTrail(context);
  const replay = () => {
    for (const { seq, entries } of journal)
      for (const entry of entries) trail.add(seq, { entry, link });
  };
  const rig = await openParts(context, [trail], [], replay);
  const add = (...entries: AuditEntry[]) => {
    const record = { seq: (journal.at(-1)?.seq ?? 0) + 3, entries };
    journal.push(record);
    for (const entry of entries) trail.add(record.seq, { entry, link });
  };
  const again = (on = disk.afterKill()) => opened(on, clock, journal);
  return { disk, clock, trail, rig, journal, add, again };
}

type Query = Parameters<AuditTrail['page']>[0];

async function walk(trail: AuditTrail, query: Partial<Query> = {}) {
  const all = await allPages((more) =>
    trail.page({ tenantIds: [tenantA], limit: 200, ...query, ...more }),
  );
  const found = all.flatMap(({ items }) => items.map(({ details }) => details.n));
  return { found, pages: all.length };
}
const numbers = async (trail: AuditTrail, query: Partial<Query> = {}) =>
  (await walk(trail, query)).found;
const marked = (disk: CrashDisk) => JSON.parse(disk.text('/data/manifest.json')).marks.audit;

describe('audit entries', () => {
  it('are in memory until a checkpoint, then in the file of their day, one per line', async () => {
    const { disk, trail, rig, add } = await opened();
    add(entry(0), entry(1));
    add(entry(2, noon + dayMs));
    expect(disk.paths().filter((path) => path.includes('audit'))).toEqual([]);
    expect(await numbers(trail)).toEqual([2, 1, 0]);
    await rig.checkpoint();
    const lines = (disk.text(day20) + disk.text(day21)).trimEnd().split('\n');
    for (const line of lines) expect(isValidRecord(Buffer.from(line))).toBe(true);
    expect(lines.map((line) => JSON.parse(line)).map(({ crc: _, ...rest }) => rest)).toEqual([
      { seq: 3, n: 0, entry: entry(0), link },
      { seq: 3, n: 1, entry: entry(1), link },
      { seq: 6, n: 0, entry: entry(2, noon + dayMs), link },
    ]);
    expect(marked(disk)).toEqual({
      file: '2026-11-21.ndjson',
      files: { '2026-11-20.ndjson': 938 },
      size: disk.text(day21).length,
      seq: 6,
    });
    expect(await numbers(trail)).toEqual([2, 1, 0]);
  });

  it('are written in slices when there are thousands', async () => {
    const { disk, trail, rig, add } = await opened();
    for (let n = 0; n < 3; n++)
      add(...Array.from({ length: 600 }, (_, at) => entry(n * 600 + at, noon + n * dayMs)));
    let writes = 0;
    disk.before = (operation, path) => {
      if (operation === 'write' && path.includes('/audit/')) writes++;
    };
    await rig.checkpoint();
    expect(writes).toBe(6);
    expect(await numbers(trail, { limit: 100 })).toEqual(
      Array.from({ length: 1800 }, (_, n) => 1799 - n),
    );
  });

  it('are all there after a crash, although large records arrived during a checkpoint', async () => {
    const { disk, trail, rig, add, again } = await opened();
    const large = (first: number) =>
      add(...Array.from({ length: 190 }, (_, at) => entry(first + at)));
    for (const first of [0, 190, 380]) large(first);
    let writes = 0;
    disk.before = (operation, path) => {
      if (operation !== 'write' || !path.includes('/audit/')) return;
      // Three records become durable while the first slice is written.
      if (++writes === 1) for (const first of [570, 760, 950]) large(first);
    };
    await rig.checkpoint();
    expect(writes).toBeGreaterThan(1);
    const all = Array.from({ length: 1140 }, (_, n) => 1139 - n);
    expect(await numbers(trail)).toEqual(all);
    expect(await numbers((await again()).trail)).toEqual(all);
  });

  it('are the same at every step of a checkpoint', async () => {
    const { disk, trail, rig, add } = await opened();
    add(entry(0));
    await rig.checkpoint();
    add(entry(1), entry(2));
    add(entry(3, noon + dayMs));
    const seen: Promise<unknown[]>[] = [];
    disk.before = (operation) => {
      if (operation !== 'open' && !operation.startsWith('read'))
        seen.push(numbers(trail), numbers(trail, { limit: 1 }));
    };
    await rig.checkpoint();
    disk.before = () => {};
    expect(seen.length).toBeGreaterThan(10);
    for (const one of await Promise.all(seen)) expect(one).toEqual([3, 2, 1, 0]);
  });
});

describe('a checkpoint of the audit trail', () => {
  it('includes the last journal entries after the stop', async () => {
    const { disk, clock, trail, rig, add, journal } = await opened();
    add(entry(0));
    await trail.close();
    add(entry(1), entry(2));
    await rig.close();
    const next = await opened(disk, clock, journal);
    expect(await numbers(next.trail)).toEqual([2, 1, 0]);
    next.add(entry(3));
    await next.rig.close();
    expect(await numbers((await opened(disk, clock)).trail)).toEqual([3, 2, 1, 0]);
  });

  it('leaves no empty file at the stop', async () => {
    const { disk, clock, rig, add, journal } = await opened();
    add(entry(0));
    await rig.checkpoint();
    add(entry(1, noon + dayMs));
    disk.before = (operation, path) => {
      if (operation === 'write' && path === day21) throw new Error('EIO');
    };
    await expect(rig.checkpoint()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(rig.close()).rejects.toThrow();
    disk.before = () => {};
    expect(await numbers((await opened(disk, clock, journal)).trail)).toEqual([1, 0]);
  });
});

describe('a page of the audit trail', () => {
  it('costs the same at any depth', async () => {
    const { disk, trail, rig, add } = await opened();
    for (let n = 0; n < 6000; n++) add(entry(n, noon + Math.floor(n / 2000) * dayMs));
    await rig.checkpoint();
    let after: string | undefined;
    for (let page = 0; page < 30; page++) {
      disk.readBytes = 0;
      const { items, next }: Awaited<ReturnType<AuditTrail['page']>> = await trail.page({
        tenantIds: [tenantA],
        limit: 200,
        ...(after ? { after } : {}),
      });
      expect(items.map(({ details }) => details.n)).toEqual(
        Array.from({ length: 200 }, (_, at) => 5999 - page * 200 - at),
      );
      expect(disk.readBytes).toBeLessThan(600_000);
      if (page === 29) expect(next).toBeNull();
      after = next ?? undefined;
    }
  });

  it('has a cursor that stays valid while entries move to files, also within a large record', async () => {
    const { trail, rig, add } = await opened();
    add(...Array.from({ length: 700 }, (_, n) => entry(n)));
    const first = await trail.page({ tenantIds: [tenantA], limit: 100 });
    await rig.checkpoint();
    const second = await trail.page({ tenantIds: [tenantA], limit: 200, after: first.next! });
    const third = await trail.page({ tenantIds: [tenantA], limit: 500, after: second.next! });
    const all = [first, second, third].flatMap(({ items }) =>
      items.map(({ details }) => details.n),
    );
    expect(all).toEqual(Array.from({ length: 700 }, (_, n) => 699 - n));
    expect(third.next).toBeNull();
  });

  it('has each entry once when entries move to files while it is read', async () => {
    const { disk, trail, rig, add } = await opened();
    add(entry(0));
    await rig.checkpoint();
    add(entry(1));
    const open = disk.open.bind(disk);
    disk.open = async (path) => {
      disk.open = open;
      await rig.checkpoint();
      return open(path);
    };
    expect(await numbers(trail)).toEqual([1, 0]);
  });

  it('ends after about 32 MiB with a next cursor', async () => {
    const { trail, rig, add, disk } = await opened();
    const large = { text: 'x'.repeat(1 << 20) };
    add(entry(100, noon, { action: 'rare' }));
    for (let n = 0; n < 40; n++) add(entry(n, noon, { details: large }));
    await rig.checkpoint();
    disk.readBytes = 0;
    const { items, next } = await trail.page({ tenantIds: [tenantA], limit: 10, action: 'rare' });
    expect(items).toEqual([]);
    expect(eventPosition(next ?? '')).toBeDefined();
    expect(disk.readBytes).toBeLessThan(36 << 20);
    expect(await walk(trail, { action: 'rare' })).toEqual({ found: [100], pages: 2 });
  });

  it.each([
    ['head', '"seq"', '"sec"'],
    ['body', '"n":1}', '"n":7}'],
  ])('rejects damage in the %s of a line, and names file and offset', async (_, good, bad) => {
    const { disk, trail, rig, add } = await opened();
    add(entry(1));
    add(entry(2));
    await rig.checkpoint();
    const { next } = await trail.page({ tenantIds: [tenantA], limit: 1 });
    disk.plant(day20, disk.text(day20).replace(good, bad));
    const damage = {
      code: 'store_damaged',
      message: expect.stringContaining(`${day20}, at byte 0`),
    };
    await expect(trail.page({ tenantIds: [tenantA], limit: 9 })).rejects.toMatchObject(damage);
    await expect(
      trail.page({ tenantIds: [tenantA], limit: 9, after: next! }),
    ).rejects.toMatchObject(damage);
  });
});

describe('a start of the audit trail', () => {
  async function filled() {
    const all = await opened();
    all.add(entry(0), entry(1));
    all.add(entry(2, noon + dayMs));
    await all.rig.checkpoint();
    return all;
  }

  it('cuts off data that the manifest does not cover', async () => {
    const { disk, again } = await filled();
    const good = disk.text(day21);
    const after = disk.afterKill();
    after.plant(day21, `${good}{"crc":"half`);
    after.plant('/data/audit/2026-11-22.ndjson', good);
    const next = await again(after);
    expect(after.text(day21)).toBe(good);
    expect(after.paths()).not.toContain('/data/audit/2026-11-22.ndjson');
    expect(await numbers(next.trail)).toEqual([2, 1, 0]);
  });

  it.each<[string, (disk: CrashDisk) => void, RegExp]>([
    ['a missing file', (disk) => void disk.unlink(day21), /2026-11-21.ndjson: the file is missing/],
    [
      'a file that is too short',
      (disk) => disk.plant(day21, disk.text(day21).slice(0, -1)),
      /2026-11-21.ndjson, at byte \d+: it had \d+ bytes/,
    ],
    [
      'a last entry that is damaged',
      (disk) => disk.plant(day21, disk.text(day21).replace('"n":2', '"n":3')),
      /2026-11-21.ndjson, at byte 0: a record is damaged/,
    ],
    [
      'a last entry of another record',
      (disk) => disk.plant(day21, disk.text(day20).slice(0, disk.text(day21).length)),
      /2026-11-21.ndjson/,
    ],
  ])('is rejected for %s', async (_, harm, message) => {
    const { disk, again } = await filled();
    const after = disk.afterKill();
    harm(after);
    await expect(again(after)).rejects.toMatchObject({
      code: 'store_damaged',
      message: expect.stringMatching(message),
    });
  });
});

describe('purgeBefore of the audit trail', () => {
  const files = (disk: CrashDisk) =>
    disk
      .paths()
      .filter((path) => path.includes('/audit/'))
      .map((path) => path.slice(12, 22));

  async function fourDays() {
    const all = await opened();
    for (let n = 0; n < 4; n++) {
      if (n > 0) all.clock.advance(dayMs);
      all.add(entry(n, all.clock.now()));
      await all.rig.checkpoint();
    }
    return all;
  }

  it('deletes whole days before the time', async () => {
    const { disk, clock, trail, again } = await fourDays();
    await trail.purgeBefore(clock.now() - 9 * dayMs);
    expect(files(disk)).toHaveLength(4);
    await trail.purgeBefore(clock.now() - dayMs);
    expect(files(disk)).toEqual(['2026-11-22', '2026-11-23']);
    expect(await numbers(trail)).toEqual([3, 2]);
    expect(await numbers((await again()).trail)).toEqual([3, 2]);
  });

  it('deletes entries that no checkpoint has written to a file yet', async () => {
    const { disk, clock, trail, rig, add } = await opened();
    add(entry(1, clock.now()));
    clock.advance(2 * dayMs);
    add(entry(2, clock.now()));
    await trail.purgeBefore(clock.now() - dayMs);
    expect(await numbers(trail)).toEqual([2]);
    await rig.checkpoint();
    expect(files(disk)).toEqual(['2026-11-22']);
  });

  it('immediately hides the newest file when its day is past, and deletes it with the next checkpoint', async () => {
    const { disk, clock, trail, rig, add, again } = await fourDays();
    add(entry(4, clock.now()));
    clock.advance(dayMs);
    await trail.purgeBefore(clock.now() + 100 * dayMs);
    expect(await numbers(trail)).toEqual([]);
    expect(files(disk)).toEqual(['2026-11-23']);
    await rig.checkpoint();
    expect(files(disk)).toEqual([]);
    clock.set(noon);
    add(entry(5, clock.now()));
    expect(await numbers(trail)).toEqual([5]);
    await rig.checkpoint();
    expect(files(disk)).toEqual(['2026-11-24']);
    const next = await again();
    expect(await numbers(next.trail)).toEqual([5]);
  });

  it('leaves a trail that starts, also after a crash during the deletion', async () => {
    const { disk, clock, trail, rig, journal } = await fourDays();
    clock.advance(dayMs);
    await trail.purgeBefore(clock.now());
    disk.before = (operation) => {
      if (operation === 'unlink') throw new Error('crashed');
    };
    await rig.checkpoint();
    const after = disk.afterKill();
    expect(files(after)).toEqual(['2026-11-23']);
    const next = await opened(after, clock, journal);
    expect(files(after)).toEqual([]);
    expect(await numbers(next.trail)).toEqual([]);
    clock.set(noon);
    next.add(entry(6, noon));
    await next.rig.close();
    expect(files(after)).toEqual(['2026-11-24']);
    expect(await numbers((await opened(after, clock)).trail)).toEqual([6]);
  });
});

describe('the audit trail in random runs', () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        entries: fc.array(fc.record({ isOurs: fc.boolean(), isRare: fc.boolean() }), {
          minLength: 1,
          maxLength: 4,
        }),
        hours: fc.integer({ min: -5, max: 20 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ failAt: fc.option(fc.nat(12), { nil: undefined }) }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('stop' as const, 'kill' as const, 'power cut' as const),
    },
  );

  it('equals the list of added entries', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 6 }),
        async (steps, limit) => {
          const all: AuditEntry[] = [];
          const clock = new ManualClock();
          let now = await opened(undefined, clock);
          for (const one of steps) {
            if (one === 'stop') await now.rig.close();
            if (typeof one === 'string') {
              const disk = one === 'power cut' ? now.disk.afterPowerCut() : now.disk.afterKill();
              now = await opened(disk, clock, now.journal);
            } else if ('entries' in one) {
              clock.set(clock.now() + one.hours * hourMs);
              const made = one.entries.map(({ isOurs, isRare }, at) => {
                const more = {
                  tenantId: isOurs ? tenantA : tenantB,
                  ...(isRare ? { action: 'rare' } : {}),
                };
                return entry(all.length + at, clock.now(), more);
              });
              all.push(...made);
              now.add(...made);
            } else {
              if (one.failAt !== undefined) now.disk.failAt = now.disk.changes + one.failAt;
              await now.rig.checkpoint().catch(() => undefined);
              now.disk.failAt = Number.POSITIVE_INFINITY;
            }
          }
          const ours = all.filter(({ tenantId }) => tenantId === tenantA).toReversed();
          const of = (entries: AuditEntry[]) => entries.map(({ details }) => details.n);
          expect(await numbers(now.trail, { limit })).toEqual(of(ours));
          expect(await numbers(now.trail, { limit, action: 'rare' })).toEqual(
            of(ours.filter(({ action }) => action === 'rare')),
          );
          const from = noon + 10 * hourMs;
          const to = noon + 40 * hourMs;
          expect(await numbers(now.trail, { limit, from, to })).toEqual(
            of(ours.filter(({ at }) => at >= from && at < to)),
          );
        },
      ),
      { numRuns: 100 },
    );
  });
});
