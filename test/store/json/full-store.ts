import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { dayMs, minuteMs } from '../../../src/domain/clock.ts';
import { batchSums } from '../../../src/domain/events/batch-counts.ts';
import type { ReportClock } from '../../../src/domain/records/report.ts';
import { openJsonStore } from '../../../src/store/json/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { batchOf, guid, impression, tenantA, tenantB } from '../sample-batch.ts';
import {
  auditRow,
  codeRow,
  configRow,
  deviceKeyRow,
  deviceRow,
  pastPlaylistRow,
  playlistRow,
  screenRow,
  tenantRow,
  tokenRow,
  venueRow,
} from '../sample-rows.ts';
import { CrashDisk } from './crash-disk.ts';
import { contextOn } from './part-rig.ts';

/** Number of records of each kind per day. */
export const eachDay = 2;

async function addRows(store: Store, at: number, number: number): Promise<void> {
  await store.write(async (tx) => {
    await tx.put('venues', venueRow(number, { tenantId: number % 2 ? tenantA : tenantB }));
    await tx.put('screens', screenRow(number, { state: 'active', deviceId: guid('devi', number) }));
    await tx.put('devices', deviceRow(number));
    await tx.put('deviceKeys', deviceKeyRow(number));
    await tx.put('codes', codeRow(number, { simulated: isSimulated(number) }));
    await tx.put('playlists', playlistRow(number, 2));
    await tx.put('pastPlaylists', pastPlaylistRow(number, 1));
    await tx.put(
      'configs',
      configRow('screen', guid('scre', number), { syncIntervalMinutes: number }),
    );
    await tx.audit(auditRow(number, { at }));
  });
}

const isSimulated = (number: number) => number % 2 === 0;
/** Whether the events of a device are counted with local days. The others are those of 0.1.0. */
const isLocated = (number: number) => number % 4 >= 2;

async function addDay(store: Store, clock: ManualClock, day: number): Promise<void> {
  for (let number = day * eachDay + 1; number <= (day + 1) * eachDay; number++) {
    await addRows(store, clock.now(), number);
    const events = [0, 1].map((n) =>
      impression(clock.now() - n * minuteMs, {
        number,
        creativeId: guid('crea', number),
        seq: 2 * n + 1,
      }),
    );
    await store.appendBatch(
      batchOf(events, {
        deviceId: guid('devi', number),
        simulated: isSimulated(number),
        key: `key ${number}`,
        ...(isLocated(number) && { sums: batchSums(events, [3600]) }),
      }),
    );
    store.touch('device', guid('devi', number), { lastSeenAt: clock.now() });
    store.touch('token', guid('toke', 1), { lastUsedAt: clock.now() });
  }
}

/** Random bytes that are the same in each run. */
const sameBytes = (length: number) => Buffer.alloc(length, 7);

/** Opens the data folder `/data` of a disk. */
export const openOn = (disk: CrashDisk, clock: ManualClock) =>
  openJsonStore(contextOn(disk, clock), sameBytes, async () => {});

/** Lets time pass, and waits for the checkpoint that it triggers. */
export async function passTime(clock: ManualClock, forMs: number): Promise<void> {
  clock.advance(forMs);
  for (let turn = 0; turn < 200; turn++) await setImmediate();
}

/** The files of a store with every kind of data, from three days and two starts. */
async function fill() {
  const disk = new CrashDisk();
  const clock = new ManualClock();
  let store = await openOn(disk, clock);
  await store.write(async (tx) => {
    for (const number of [1, 2]) await tx.put('tenants', tenantRow(number));
    await tx.put('tokens', tokenRow(1));
    await tx.put('configs', configRow('tenant', tenantA, { heartbeatIntervalMinutes: 7 }));
    await tx.audit(auditRow(900, { at: clock.now() }));
  });
  for (const day of [0, 1]) {
    await addDay(store, clock, day);
    await passTime(clock, dayMs);
  }
  await store.close();
  store = await openOn(disk, clock);
  await addDay(store, clock, 2);
  const crashed = disk.afterKill().files();
  await store.close();
  return { stopped: disk.files(), crashed, nowMs: clock.now() };
}

let filled: ReturnType<typeof fill> | undefined;

/** The same files each time: of the stopped store, and as a kill before would have left them. */
export function fullFiles(): ReturnType<typeof fill> {
  filled ??= fill();
  return filled;
}

/**
 * A data folder with every kind of data, and the clock of its store. The store was stopped, or its
 * process was killed.
 */
export async function fullStore(end: 'stopped' | 'crashed' = 'stopped') {
  const { nowMs, [end]: files } = await fullFiles();
  return { folder: await folderOf(files), clock: new ManualClock(nowMs) };
}

/** Writes the files of `/data` of a disk to a folder. */
export async function folderOf(files: ReadonlyMap<string, Buffer>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [path, bytes] of files) {
    const file = join(folder, path.slice('/data/'.length));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes);
  }
  return folder;
}

const numberOf = ({ id }: { id: string }) => Number(id.split('/')[0]?.slice(-6));

/** Impressions of batches with local days. */
async function playsByCreative(store: Store, by: ReportClock, simulated: 'exclude' | 'only') {
  const sums = new Map<string, number>();
  await store.plays({ tenantId: tenantA, by }, () => {
    sums.clear();
    return {
      place: (place) => place.simulated === (simulated === 'only'),
      cell: ({ creativeId }, events) =>
        void sums.set(creativeId, (sums.get(creativeId) ?? 0) + events),
    };
  });
  return Array.from(sums, ([key, impressions]) => ({ key, impressions }));
}

/** Holdings of a store, by number, and totals. */
export async function holdings(store: Store) {
  const numbers = Array.from({ length: 3 * eachDay }, (_, index) => index + 1);
  const { read } = store;
  const there = async (has: (number: number) => unknown) => {
    const found = await Promise.all(numbers.map(has));
    return numbers.filter((_, at) => found[at]);
  };
  const listed = async (table: 'tenants' | 'tokens' | 'venues' | 'screens' | 'devices') =>
    (await store.list(table, { limit: 100 })).items.map(numberOf);
  const { items } = await store.events({ tenantId: tenantA, order: 'asc', limit: 1000 });
  const events = items.map(({ event }) => event.number as number);
  const audit = (await store.audit({ tenantIds: [tenantA], limit: 1000 })).items
    .map(numberOf)
    .sort((a, b) => a - b);
  const counted = async (by: 'received' | 'timestamp', simulated: 'exclude' | 'only') =>
    [
      ...(await store.impressions({ tenantId: tenantA, groupBy: 'creative', by, simulated })),
      ...(await playsByCreative(store, by, simulated)),
    ].map(({ key, impressions }) => {
      const number = Number(key.slice(-6));
      const isRight = isSimulated(number) === (simulated === 'only');
      return { number, text: `${number}: ${impressions}${isRight ? '' : ', scope is wrong'}` };
    });
  const byCreative = async (by: 'received' | 'timestamp') =>
    [...(await counted(by, 'exclude')), ...(await counted(by, 'only'))]
      .sort((one, other) => one.number - other.number)
      .map(({ text }) => text);
  return {
    tenants: await listed('tenants'),
    tokens: await listed('tokens'),
    venues: await listed('venues'),
    screens: await listed('screens'),
    devices: await listed('devices'),
    deviceKeys: await there((number) => read.findByKeyHash(`key ${number}`)),
    codes: await there((number) => read.get('codes', codeRow(number).id)),
    playlists: await there((number) => read.get('playlists', guid('scre', number))),
    past: await there((number) => read.get('pastPlaylists', `${guid('scre', number)}/1`)),
    configs: await there((number) => read.get('configs', `screen/${guid('scre', number)}`)),
    numbered: await there(async (number) => {
      const { lastSeq, missingEvents } = await store.marks('device', guid('devi', number));
      return lastSeq === 3 && missingEvents === 1;
    }),
    seen: await there(
      async (number) => (await store.marks('device', guid('devi', number))).lastSeenAt,
    ),
    events,
    audit,
    received: await byCreative('received'),
    timestamp: await byCreative('timestamp'),
  };
}
