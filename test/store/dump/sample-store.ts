import { dayMs } from '../../../src/domain/clock.ts';
import { batchSums } from '../../../src/domain/events/batch-counts.ts';
import { reportClocks, reportGroups } from '../../../src/domain/records/report.ts';
import { tableNames } from '../../../src/store/sections.ts';
import type { Store } from '../../../src/store/store.ts';
import { playsIn } from '../../../src/testing/store-suite/play-tests.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { allPages } from '../../support/service/all-pages.ts';
import { CrashDisk } from '../json/crash-disk.ts';
import { folderOf, openOn } from '../json/full-store.ts';
import { batchOf, guid, impression, tenantA, tenantB } from '../sample-batch.ts';
import {
  auditRow,
  codeRow,
  configRow,
  contentRow,
  creationRow,
  deviceKeyRow,
  deviceRow,
  pastPlaylistRow,
  playlistRow,
  screenRow,
  tenantRow,
  tokenRow,
  venueRow,
} from '../sample-rows.ts';

const days = 5;
const devices = 3;

/**
 * Fills a store with rows of all tables, several days of telemetry whose first day retention has
 * deleted, and last activity.
 */
export async function fillStore(store: Store, clock: ManualClock): Promise<void> {
  await fillRows(store);
  const start = clock.now();
  for (let day = 0; day < days; day++) {
    clock.set(start + day * dayMs);
    for (let device = 1; device <= devices; device++)
      await store.appendBatch(sampleBatch(day, device));
    await store.appendBatch(
      batchOf([impression(start, { text: 'Zürich 🎬 "quoted" \\ back' })], {
        tenantId: tenantB,
        venueId: guid('venu', 9),
      }),
    );
    await store.write((tx) => tx.audit(auditRow(day, { at: clock.now() })));
  }
  for (let number = 0; number < 140; number++)
    await store.appendBatch(
      batchOf([impression(number, { duration: 1.1 })], {
        key: `many ${number}`,
        deviceId: guid('devi', 2),
      }),
    );
  await store.purgeBefore(start + 2 * dayMs);
  store.touch('device', guid('devi', 1), {
    lastSeenAt: clock.now(),
    lastAddress: '192.0.2.1',
    lastPlaylistVersion: null,
  });
  store.touch('token', guid('toke', 1), { lastUsedAt: clock.now() });
}

async function makeSample() {
  const disk = new CrashDisk();
  const clock = new ManualClock();
  const store = await openOn(disk, clock);
  await fillStore(store, clock);
  const contents = await contentsOf(store);
  await store.close();
  return { files: disk.files(), contents, nowMs: clock.now() };
}

let sample: ReturnType<typeof makeSample> | undefined;

/** Creates a data folder with these contents, and sets the clock to its time. */
export async function sampleFolder(clock: ManualClock) {
  sample ??= makeSample();
  const { files, contents, nowMs } = await sample;
  clock.set(nowMs);
  return { original: await folderOf(files), contents };
}

/**
 * A batch with an idempotency key, the same each time. Every second device is simulated. The
 * batches of the first day are those of 0.1.0.
 */
export function sampleBatch(day: number, device: number) {
  const at = Date.UTC(2026, 10, 20 + day, 8);
  const odd = { timestamp: -5 * 365 * dayMs, campaignId: null };
  const events = [
    impression(at, { duration: 12.5, seq: 10 * day + 1 }),
    impression(at, { ...odd, seq: 10 * day + 2 }),
    { ...impression(at), type: 'heartbeat' },
  ];
  return batchOf(events, {
    key: `key ${day}`,
    deviceId: guid('devi', device),
    screenId: guid('scre', device),
    sent: `sent of ${day}`,
    simulated: device % 2 === 0,
    ...(day > 0 && { sums: batchSums(events, day === 1 ? [-10_800] : [3600, 3600, 0, 7200]) }),
    ...(day % 2 === 0 && { deviceTime: at }),
  });
}

async function fillRows(store: Store): Promise<void> {
  await store.write(async (tx) => {
    await tx.put('tenants', tenantRow(1));
    await tx.put('tenants', tenantRow(2));
    await tx.put('tokens', tokenRow(1, { tenantId: null, role: 'platform' }));
    await tx.put(
      'tokens',
      tokenRow(2, { expiresAt: 1_790_000_000_000, venueIds: [guid('venu', 1)] }),
    );
    await tx.put('venues', venueRow(1, { labels: { zone: 'b', area: 'a' } }));
    for (let number = 1; number <= devices; number++) {
      await tx.put(
        'screens',
        screenRow(number, { state: 'active', deviceId: guid('devi', number) }),
      );
      await tx.put('devices', deviceRow(number));
      await tx.put('deviceKeys', deviceKeyRow(number));
      await tx.put('contents', contentRow(number, { items: '[{"title":"a\\u0000\\ud800"}]' }));
      await tx.put('playlists', playlistRow(number, 3));
      for (const version of [1, 2]) await tx.put('pastPlaylists', pastPlaylistRow(number, version));
    }
    await tx.put(
      'codes',
      codeRow(1, {
        state: 'used',
        usedAt: 5,
        deviceId: guid('devi', 1),
        answeredConfig: { zoom: 2, area: { b: 1, a: 2 } },
      }),
    );
    await tx.put('configs', configRow('venue', guid('venu', 1), { syncIntervalMinutes: 2.5 }));
    await tx.put('creations', creationRow(1));
    for (const number of [100, 101])
      await tx.audit(auditRow(number, { tenantId: null, at: 1_700_000_000_000 }));
  });
}

/** Everything that can be read from a store. */
export async function contentsOf(store: Store): Promise<object> {
  const ids = await idsOf(store);
  const rows: Record<string, unknown> = {};
  for (const table of tableNames)
    rows[table] = await Promise.all((ids[table] ?? []).map((id) => store.read.get(table, id)));
  const reports = [];
  for (const tenantId of [tenantA, tenantB])
    for (const by of reportClocks)
      for (const groupBy of reportGroups)
        for (const simulated of ['exclude', 'only'] as const)
          reports.push(await store.impressions({ tenantId, by, groupBy, simulated }));
  reports.push(
    await store.impressions({
      tenantId: tenantA,
      venueIds: [guid('venu', 1)],
      by: 'received',
      groupBy: 'day',
    }),
  );
  return {
    secret: Buffer.from(store.secret).toString('hex'),
    rows,
    reports,
    plays: await Promise.all(
      reportClocks.flatMap((by) =>
        [tenantA, tenantB].map((tenantId) => playsIn(store, { tenantId, by })),
      ),
    ),
    events: [...(await allEvents(store, tenantA)), ...(await allEvents(store, tenantB))],
    audit: (await store.audit({ tenantIds: [tenantA, null], limit: 200 })).items,
    marks: [
      await store.marks('device', guid('devi', 1)),
      await store.marks('token', guid('toke', 1)),
      await store.marks('device', guid('devi', 2)),
    ],
  };
}

async function allEvents(store: Store, tenantId: string) {
  const query = { tenantId, order: 'asc' as const, limit: 50 };
  const pages = await allPages((more) => store.events({ ...query, ...more }));
  return pages.flatMap(({ items }) => items);
}

async function idsOf(store: Store): Promise<Record<string, string[]>> {
  const numbered = (kind: string) => [1, 2, 3, 4].map((number) => guid(kind, number));
  const past = numbered('scre').flatMap((id) => [1, 2, 3].map((version) => `${id}/${version}`));
  return {
    tenants: (await store.list('tenants', { limit: 50 })).items.map(({ id }) => id),
    tokens: numbered('toke'),
    venues: numbered('venu'),
    screens: numbered('scre'),
    devices: numbered('devi'),
    deviceKeys: numbered('keys'),
    codes: [codeRow(1).id, codeRow(2).id],
    contents: [1, 2, 3, 4].map((number) => contentRow(number).id),
    playlists: numbered('scre'),
    pastPlaylists: past,
    configs: [`venue/${guid('venu', 1)}`],
    creations: [creationRow(1).id],
  };
}
