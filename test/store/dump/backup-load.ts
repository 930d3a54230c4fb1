import { join } from 'node:path';
import { expect } from 'vitest';
import { type Clock, minuteMs } from '../../../src/domain/clock.ts';
import type { FileSystem } from '../../../src/store/json/disk/file-system.ts';
import { yieldToEventLoop } from '../../../src/store/json/disk/yield.ts';
import { FolderTarget } from '../../../src/store/json/dump/folder-target.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { restoreStore } from '../../../src/store/maintenance/restore.ts';
import type { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { allPages } from '../../support/service/all-pages.ts';
import { batchOf, guid, impression, tenantA } from '../sample-batch.ts';
import { auditRow, pastPlaylistRow, playlistRow, screenRow, venueRow } from '../sample-rows.ts';

/** Opens a target on a disk, without a lock. */
export const targetOn = (disk: FileSystem, directory: string, clock: Clock) =>
  new FolderTarget({ disk, directory, clock, lowWaterBytes: 0, warn: () => {} }, async () => {});

/** The records of a dump, without checking it. */
export const recordsIn = (dump: Uint8Array) =>
  Buffer.from(dump)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line.slice(9)));

export const bytesOf = async (stream: ReadableStream<Uint8Array>) =>
  new Uint8Array(await new Response(stream).arrayBuffer());
export const streamOf = (bytes: Uint8Array) =>
  new Blob([bytes as Uint8Array<ArrayBuffer>]).stream() as ReadableStream<Uint8Array>;

/** One change of several rows, and one batch of three events, all with the same number. */
export async function add(store: Store, clock: ManualClock, number: number): Promise<void> {
  await store.write(async (tx) => {
    await tx.put('venues', venueRow(number));
    await tx.put('screens', screenRow(number));
    await tx.put('playlists', playlistRow(number, 2));
    await tx.put('pastPlaylists', pastPlaylistRow(number, 1));
    await tx.audit(auditRow(number, { at: clock.now() }));
  });
  const events = [0, 1, 2].map((n) =>
    impression(clock.now(), { number, n, creativeId: guid('crea', number) }),
  );
  await store.appendBatch(
    batchOf(events, { deviceId: guid('devi', number % 7), key: `key ${number}` }),
  );
}

/** Records in a store, by number. Each number must be there completely or not at all. */
export async function shown(store: Store) {
  const query = { tenantId: tenantA, order: 'asc' as const, limit: 100_000 };
  const listed = async (table: 'venues' | 'screens') =>
    (await store.list(table, { limit: 100_000 })).items.map(({ id }) => Number(id.slice(-6)));
  const venues = await listed('venues');
  const screens = await listed('screens');
  const past = (
    await store.read.select(
      'pastPlaylists',
      'screenId',
      venues.map((number) => guid('scre', number)),
    )
  ).length;
  const events = new Map<number, number>();
  for (const { items } of await allPages((more) => store.events({ ...query, ...more })))
    for (const { event } of items)
      events.set(event.number as number, (events.get(event.number as number) ?? 0) + 1);
  const report = await store.impressions({
    tenantId: tenantA,
    groupBy: 'creative',
    by: 'received',
  });
  const audit = await store.audit({ tenantIds: [tenantA], limit: 100_000 });
  const impressions = report.reduce((sum, row) => sum + row.impressions, 0);
  return { venues, screens, past, events, impressions, audited: audit.items.length };
}

export async function restored(backup: Uint8Array, clock = new ManualClock()) {
  const folder = join(await temporaryFolder(), 'restored');
  const summary = await restoreStore(streamOf(backup), folder, { clock });
  const warnings: string[] = [];
  const store = await openStore(folder, {
    clock,
    onWarning: (message) => void warnings.push(message),
  });
  return { folder, summary, store, warnings };
}

interface BackupLoad {
  /** Location of the store. Default: a new data folder. */
  place?: string;
  clock: ManualClock;
  rounds: number;
  /** Numbers written in each round. */
  perRound: number;
  /** Called with the folder of each restored store, after it was checked and closed. */
  onCopy?: (folder: string, round: number) => Promise<void>;
}

/**
 * Takes backups while three writers keep the store busy. Expects each backup to have everything
 * acknowledged before it, and no partial change.
 */
export async function backUpUnderLoad({
  place,
  clock,
  rounds,
  perRound,
  onCopy,
}: BackupLoad): Promise<void> {
  const store = await openStore(place ?? (await temporaryFolder()), { clock });
  let next = 1;
  let acknowledged = 0;
  let limit = 0;
  let busy = true;
  const done = new Set<number>();
  const work = async () => {
    while (busy) {
      await yieldToEventLoop();
      if (next > limit) continue;
      const number = next++;
      await add(store, clock, number);
      done.add(number);
      while (done.has(acknowledged + 1)) acknowledged++;
    }
  };
  const workers = [1, 2, 3].map(work);
  for (let round = 0; round < rounds; round++) {
    // Maximum numbers written during one backup. Otherwise the comparison would not end.
    limit = (round + 1) * perRound;
    while (acknowledged < limit - (perRound * 3) / 4) await yieldToEventLoop();
    // A checkpoint is in progress when the backup starts.
    clock.advance(minuteMs);
    for (let count = 0; count < (round % 20) * 3; count++) await yieldToEventLoop();
    const before = acknowledged;
    const copy = await restored(await bytesOf(await store.backup()), clock);
    expectWhole(await shown(copy.store), before);
    await copy.store.close();
    await onCopy?.(copy.folder, round);
  }
  busy = false;
  await Promise.all(workers);
  await store.close();
}

function expectWhole(
  { venues, screens, past, events, impressions, audited }: Awaited<ReturnType<typeof shown>>,
  acknowledged: number,
): void {
  const promised = Array.from({ length: acknowledged }, (_, index) => index + 1);
  expect(promised.filter((number) => !venues.includes(number) || !events.has(number))).toEqual([]);
  expect(screens).toEqual(venues);
  expect([past, audited]).toEqual([venues.length, venues.length]);
  expect([...events.values()].filter((count) => count !== 3)).toEqual([]);
  expect(impressions).toBe(events.size * 3);
}
