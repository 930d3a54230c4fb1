import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs, minuteMs } from '../../../../src/domain/clock.ts';
import type { TelemetryEvent } from '../../../../src/domain/events/event.ts';
import {
  dayOf,
  type ImpressionRow,
  type ReportClock,
  type ReportGroup,
  reportClocks,
  reportGroups,
} from '../../../../src/domain/records/report.ts';
import { documentLine } from '../../../../src/store/json/checkpoint/document-line.ts';
import { Rollups } from '../../../../src/store/json/rollups/rollups.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { batchOf, guid, impression, tenantA, tenantB } from '../../sample-batch.ts';
import { CrashDisk } from '../crash-disk.ts';
import { contextOn, documentOf, type LogRig, openLog, recordsOf } from '../part-rig.ts';

const noon = Date.UTC(2026, 10, 20, 12);
const report = (rig: LogRig, groupBy: ReportGroup, by: ReportClock = 'timestamp', more = {}) =>
  rig.log.impressions({ tenantId: tenantA, groupBy, by, ...more });

const byDay = { tenantId: tenantA, groupBy: 'day', by: 'timestamp' } as const;
/** A line of a document by timestamp, and its report. */
const line = JSON.stringify(['0-day', tenantA, '2026-11-20', '2026-11-20', 3, 4]);
const rows = [{ key: '2026-11-20', impressions: 3, seconds: 4 }];

async function opened(disk = new CrashDisk(), clock = new ManualClock()) {
  const rig = await openLog(contextOn(disk, clock));
  /** Lets a minute pass, after which a checkpoint includes events. */
  const minute = () => {
    clock.advance(minuteMs);
    return rig.checkpoint();
  };
  return { disk, clock, rig, minute };
}

const rollupFiles = (disk: CrashDisk) =>
  disk.paths().filter((path) => path.startsWith('/data/documents/rollups'));

describe('the documents of roll-ups', () => {
  it('have a line per day, group, tenant or venue, and key, small groups first', async () => {
    const { disk, rig } = await opened();
    await rig.log.append(
      batchOf(
        [impression(noon, { duration: 5 }), impression(noon, { campaignId: guid('camp', 2) })],
        { tenantId: tenantB },
      ),
    );
    await rig.log.append(batchOf([impression(noon)]));
    await rig.close();
    const files = rollupFiles(disk);
    expect(files.map((path) => path.slice(16))).toEqual([
      expect.stringMatching(/^rollups-received-2026-11-20\./),
      expect.stringMatching(/^rollups-timestamp-2026-11-20\./),
    ]);
    const venue = guid('venu', 1);
    expect(recordsOf(disk.text(files[1]!))).toEqual([
      ['0-day', tenantA, '2026-11-20', '2026-11-20', 1, 0],
      ['0-day', tenantB, '2026-11-20', '2026-11-20', 2, 5],
      ['0-day', venue, '2026-11-20', '2026-11-20', 3, 5],
      ['1-campaign', tenantA, '2026-11-20', guid('camp', 1), 1, 0],
      ['1-campaign', tenantB, '2026-11-20', guid('camp', 1), 1, 5],
      ['1-campaign', tenantB, '2026-11-20', guid('camp', 2), 1, 0],
      ['1-campaign', venue, '2026-11-20', guid('camp', 1), 2, 5],
      ['1-campaign', venue, '2026-11-20', guid('camp', 2), 1, 0],
      ['2-creative', tenantA, '2026-11-20', guid('crea', 1), 1, 0],
      ['2-creative', tenantB, '2026-11-20', guid('crea', 1), 2, 5],
      ['2-creative', venue, '2026-11-20', guid('crea', 1), 3, 5],
      ['4-venue', tenantA, '2026-11-20', guid('venu', 1), 1, 0],
      ['4-venue', tenantB, '2026-11-20', guid('venu', 1), 2, 5],
      ['4-venue', venue, '2026-11-20', guid('venu', 1), 3, 5],
      ['5-screen', tenantA, '2026-11-20', guid('scre', 1), 1, 0],
      ['5-screen', tenantB, '2026-11-20', guid('scre', 1), 2, 5],
      ['5-screen', venue, '2026-11-20', guid('scre', 1), 3, 5],
    ]);
  });

  it('are few, whatever days a wrong clock gives', async () => {
    const { disk, rig } = await opened();
    for (let n = 0; n < 20; n++) {
      await rig.log.append(
        batchOf(
          Array.from({ length: 100 }, (_, at) =>
            impression(Date.UTC(2100, 0, 1) + (n * 100 + at) * dayMs),
          ),
        ),
      );
    }
    await rig.close();
    expect(rollupFiles(disk)).toHaveLength(2);
    const next = await opened(disk);
    expect(await report(next.rig, 'day')).toHaveLength(2000);
    expect(
      await report(next.rig, 'campaign', 'timestamp', { from: '2100-01-03', to: '2100-01-06' }),
    ).toMatchObject([{ impressions: 3 }]);
  });

  it('change only if counts were added', async () => {
    const { disk, rig, minute } = await opened();
    await rig.log.append(batchOf([impression(noon), impression(noon - dayMs)]));
    await minute();
    const before = rollupFiles(disk);
    await rig.log.append(batchOf([impression(noon), { type: 'log', timestamp: noon }]));
    await minute();
    const after = rollupFiles(disk);
    expect(after.filter((path) => before.includes(path))).toEqual([
      expect.stringContaining('timestamp-2026-11-19'),
    ]);
    expect(after).toHaveLength(3);
    expect(await report(rig, 'day')).toMatchObject([{ impressions: 1 }, { impressions: 2 }]);
  });

  it('of many keys are merged in order, and read only up to the requested group', async () => {
    const { disk, rig, minute } = await opened();
    const put = async (first: number, step: number) => {
      const screens = Array.from({ length: 4200 / step }, (_, at) =>
        guid('scre', first + at * step),
      );
      await Promise.all(
        screens.map((screenId) => rig.log.append(batchOf([impression(noon)], { screenId }))),
      );
    };
    await put(0, 2);
    await minute();
    await put(0, 1);
    await rig.close();
    const [, file = ''] = rollupFiles(disk);
    const lines = recordsOf(disk.text(file)).map((record) => JSON.stringify(record));
    expect(lines).toHaveLength(2 * 4204);
    expect(lines).toEqual(lines.toSorted());
    const next = await opened(disk);
    disk.readBytes = 0;
    expect(await report(next.rig, 'campaign')).toEqual([
      { key: guid('camp', 1), impressions: 6300, seconds: 0 },
    ]);
    expect(disk.readBytes).toBeLessThan(100_000);
    const screens = await report(next.rig, 'screen');
    expect(screens.map(({ key }) => key)).toEqual(
      Array.from({ length: 4200 }, (_, n) => guid('scre', n)),
    );
    expect(screens.every(({ impressions }, n) => impressions === (n % 2 === 0 ? 2 : 1))).toBe(true);
  });

  it('accept absurd durations', async () => {
    const { disk, rig, minute } = await opened();
    const durations = [Number.MAX_VALUE, Number.MAX_VALUE, Number.POSITIVE_INFINITY, null, '3'];
    await rig.log.append(batchOf(durations.map((duration) => impression(noon, { duration }))));
    await minute();
    await rig.log.append(batchOf([impression(noon, { duration: Number.MAX_VALUE })]));
    await rig.close();
    // A play counts at most a day.
    expect(await report((await opened(disk)).rig, 'day')).toEqual([
      { key: '2026-11-20', impressions: 6, seconds: 3 * 86_400 },
    ]);
  });

  it('are read to the end without a final line feed', async () => {
    const written = documentLine(line).trimEnd();
    const rollups = new Rollups({ seq: () => 0, due: () => true });
    async function* chunks() {
      yield Buffer.from(written.slice(0, 30));
      yield Buffer.from(written.slice(30));
    }
    await rollups.load('rollups-timestamp-2026-11-20', documentOf(line, { chunks }));
    expect(await rollups.impressions(byDay)).toEqual(rows);
    expect(await rollups.impressions({ ...byDay, groupBy: 'campaign' })).toEqual([]);
  });
});

describe('a report', () => {
  it('is the same at every step of a checkpoint', async () => {
    const { disk, clock, rig, minute } = await opened();
    await rig.log.append(
      batchOf([impression(noon, { duration: 1 }), impression(noon - dayMs, { duration: 1 })]),
    );
    await minute();
    await rig.log.append(batchOf([impression(noon, { duration: 1 })]));
    clock.advance(minuteMs);
    const reports: Promise<ImpressionRow[]>[] = [];
    disk.before = (operation) => {
      if (operation === 'open' || operation.startsWith('read')) return;
      for (const groupBy of ['campaign', 'screen'] as const)
        for (const by of reportClocks) reports.push(report(rig, groupBy, by));
    };
    await rig.checkpoint();
    disk.before = () => {};
    expect(reports.length).toBeGreaterThan(50);
    for (const rows of await Promise.all(reports))
      expect(rows).toMatchObject([{ impressions: 3, seconds: 3 }]);
  });

  it('restarts when a document is replaced, and fails after too many restarts', async () => {
    const rollups = new Rollups({ seq: () => 0, due: () => true });
    let left = 3;
    const document = (code: string) =>
      documentOf(line, {
        async *chunks() {
          if (left-- > 0) throw Object.assign(new Error(code), { code });
          yield Buffer.from(documentLine(line));
        },
      });
    await rollups.load('rollups-timestamp-2026-11-20', document('ENOENT'));
    expect(await rollups.impressions(byDay)).toEqual(rows);
    left = 100;
    await expect(rollups.impressions(byDay)).rejects.toThrow('ENOENT');
    await rollups.load('rollups-timestamp-2026-11-20', document('EIO'));
    await expect(rollups.impressions(byDay)).rejects.toThrow('EIO');
  });

  it('skips a deleted document', async () => {
    const rollups = new Rollups({ seq: () => 0, due: () => true });
    rollups.written('rollups-timestamp-2026-11-20', undefined);
    rollups.failed('rollups-timestamp-2026-11-20');
    expect(await rollups.impressions(byDay)).toEqual([]);
    expect(rollups.dirty()).toEqual([]);
  });
});

it('a report has a batch that arrived while a checkpoint read the counts before it, after a kill', async () => {
  const clock = new ManualClock();
  const { disk, rig } = await opened(undefined, clock);
  const append = (n: number) => rig.log.append(batchOf([impression(clock.now(), { n })]));
  const checkpoint = () => {
    clock.advance(minuteMs);
    return rig.checkpoint();
  };
  await append(1);
  await checkpoint();
  await append(2);
  const checking = checkpoint();
  await append(3);
  await checking;
  const restarted = await openLog(contextOn(disk.afterKill(), clock));
  expect(await report(restarted, 'screen', 'received', {})).toMatchObject([{ impressions: 3 }]);
});

describe('reports in random runs', () => {
  const events = fc.array(
    fc.record({
      type: fc.constantFrom('impression', 'impression', 'log'),
      timestamp: fc.oneof(
        fc.integer({ min: noon - 5 * dayMs, max: noon + 5 * dayMs }),
        fc.maxSafeNat(),
      ),
      campaignId: fc.option(fc.nat(2).map((n) => guid('camp', n))),
      creativeId: fc.nat(3).map((n) => guid('crea', n)),
      entryId: fc.constantFrom(undefined, 'Breakfast', 'Lunch'),
      duration: fc.option(fc.nat(100), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 6 },
  );
  const batch = fc.record({
    do: fc.constant('batch' as const),
    events,
    tenantId: fc.constantFrom(tenantA, tenantB),
    screen: fc.nat(3),
  });
  type Batch = Omit<typeof batch extends fc.Arbitrary<infer B> ? B : never, 'do'>;
  const step = fc.oneof(
    { weight: 10, arbitrary: batch },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('checkpoint' as const),
        failAt: fc.option(fc.nat(40), { nil: undefined }),
        late: fc.array(batch, { maxLength: 5 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('restart' as const),
        how: fc.constantFrom('stop', 'kill', 'power cut'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.nat(30) }) },
  );

  interface Counted {
    tenantId: string;
    screenId: string;
    receivedAt: number;
    event: TelemetryEvent;
  }

  function naive(
    all: readonly Counted[],
    groupBy: ReportGroup,
    by: ReportClock,
    bounds: { from?: string; to?: string },
  ): ImpressionRow[] {
    const rows = new Map<string, ImpressionRow>();
    for (const { tenantId, screenId, receivedAt, event } of all) {
      if (tenantId !== tenantA || event.type !== 'impression') continue;
      const day = dayOf(
        by === 'received'
          ? receivedAt
          : event.timestamp >= 1e11
            ? event.timestamp
            : event.timestamp * 1000,
      );
      if (day < (bounds.from ?? '') || (bounds.to !== undefined && day >= bounds.to)) continue;
      const keys = {
        day,
        campaign: event.campaignId ?? '',
        creative: event.creativeId!,
        entry: event.entryId as string | undefined,
        screen: screenId,
        venue: screenId,
      };
      const key = keys[groupBy];
      if (key === undefined) continue;
      const row = rows.get(key) ?? { key, impressions: 0, seconds: 0 };
      rows.set(row.key, {
        ...row,
        impressions: row.impressions + 1,
        seconds: row.seconds + ((event.duration as number | undefined) ?? 0),
      });
    }
    return [...rows.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
  }

  it('equal a count of all events', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const all: Counted[] = [];
        const clock = new ManualClock();
        let { disk, rig } = await opened(undefined, clock);
        const append = async (one: Batch) => {
          const place = {
            screenId: guid('scre', one.screen),
            venueId: guid('scre', one.screen),
            tenantId: one.tenantId,
          };
          const sent = one.events.map(({ duration, ...event }) =>
            duration === undefined ? event : { ...event, duration },
          );
          const receivedAt = clock.now();
          await rig.log.append(batchOf(sent, place));
          all.push(...sent.map((event) => ({ ...place, receivedAt, event })));
        };
        for (const one of steps) {
          if (one.do === 'batch') await append(one);
          else if (one.do === 'wait') clock.advance(one.hours * 60 * minuteMs);
          else if (one.do === 'checkpoint') {
            clock.advance(minuteMs);
            const { failAt } = one;
            if (failAt !== undefined) {
              const first = disk.changes;
              const last = disk.changes + failAt;
              disk.before = (_, path) => {
                if (path.includes('/events')) return;
                if (disk.changes >= last && disk.changes > first) throw new Error('EIO');
              };
            }
            const checking = rig.checkpoint().catch(() => undefined);
            for (const late of one.late) await append(late);
            await checking;
            disk.before = () => {};
          } else {
            if (one.how === 'stop') await rig.close();
            disk = one.how === 'power cut' ? disk.afterPowerCut() : disk.afterKill();
            rig = await openLog(contextOn(disk, clock));
          }
        }
        for (const by of reportClocks) {
          for (const groupBy of reportGroups) {
            for (const bounds of [
              {},
              { from: '2026-11-20' },
              { from: '2026-11-17', to: '2026-11-22' },
            ]) {
              expect(await report(rig, groupBy, by, bounds)).toEqual(
                naive(all, groupBy, by, bounds),
              );
            }
          }
        }
      }),
      { numRuns: 40 },
    );
  });
});
