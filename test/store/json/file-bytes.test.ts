import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { dayMs, minuteMs } from '../../../src/domain/clock.ts';
import type { JsonStore } from '../../../src/store/json/json-store.ts';
import { openJsonStore } from '../../../src/store/json/open.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { batchOf, guid, impression, tenantA } from '../sample-batch.ts';
import {
  auditRow,
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

/** Random bytes that are the same in each run. */
const sameBytes = (length: number) => Buffer.alloc(length, 7);

function openOn(disk: CrashDisk, clock: ManualClock): Promise<JsonStore> {
  return openJsonStore(contextOn(disk, clock), sameBytes, async () => {});
}

/** Lets a minute pass, and waits for the checkpoint that it triggers. */
async function letCheckpointRun(clock: ManualClock): Promise<void> {
  clock.advance(minuteMs);
  for (let turn = 0; turn < 200; turn++) await setImmediate();
}

async function fill(store: JsonStore, clock: ManualClock, number: number): Promise<void> {
  await store.write(async (tx) => {
    await tx.put('tenants', tenantRow(1));
    await tx.put('tokens', tokenRow(1));
    await tx.put('venues', venueRow(number));
    await tx.put('screens', screenRow(number, { state: 'active', deviceId: guid('devi', number) }));
    await tx.put('devices', deviceRow(number));
    await tx.put('deviceKeys', deviceKeyRow(number));
    await tx.put('playlists', playlistRow(number, 2));
    await tx.put('pastPlaylists', pastPlaylistRow(number, 1));
    await tx.audit(auditRow(2 * number, { at: clock.now() }));
    await tx.audit(auditRow(2 * number + 1, { at: clock.now() }));
  });
  for (const n of [0, 1]) {
    const events = [0, 1, 2].map((at) =>
      impression(clock.now() - at * minuteMs, { n, duration: 5, creativeId: guid('crea', at) }),
    );
    const ids = { screenId: guid('scre', number), deviceId: guid('devi', number) };
    await store.appendBatch(batchOf(events, { ...ids, key: `${number}/${n}` }));
  }
  await store.appendBatch(batchOf([{ type: 'log', timestamp: clock.now() }]));
  store.touch('device', guid('devi', number), { lastSeenAt: clock.now() });
}

/**
 * A data folder with a fixed history on a disk of its own: four days, checkpoints, retention, a
 * clean stop and a crash. Returns the disk after the crash, and after the next start and stop.
 */
async function filledFolder() {
  const disk = new CrashDisk();
  const clock = new ManualClock();
  const first = await openOn(disk, clock);
  for (let day = 0; day < 3; day++) {
    await fill(first, clock, 2 * day + 1);
    await letCheckpointRun(clock);
    await fill(first, clock, 2 * day + 2);
    clock.advance(dayMs - minuteMs);
    for (let turn = 0; turn < 200; turn++) await setImmediate();
  }
  await first.close();
  const stopped = disk.afterKill();
  const second = await openOn(disk, clock);
  await fill(second, clock, 7);
  await letCheckpointRun(clock);
  await second.purgeBefore(clock.now() - 2 * dayMs);
  await letCheckpointRun(clock);
  await second.write(async (tx) => {
    await tx.delete('devices', guid('devi', 5));
    await tx.audit(auditRow(100, { at: clock.now(), tenantId: tenantA }));
  });
  await fill(second, clock, 8);
  const crashed = disk.afterKill();
  await second.close();
  return { stopped, crashed, closed: disk, clock };
}

/** SHA-256 of the names and contents of the files in one folder of a data folder. */
function hashOf(disk: CrashDisk, folder: string): string {
  const hash = createHash('sha256');
  for (const [path, bytes] of [...disk.files()].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (!path.startsWith(`/data/${folder}`)) continue;
    hash.update(`${path} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex').slice(0, 16);
}

const parts = ['manifest', 'secret', 'journal', 'events', 'audit', 'documents'];

it('a fixed history leaves the same files, byte for byte, in each version', async () => {
  const { stopped, crashed, closed } = await filledFolder();
  const hashes = [stopped, crashed, closed].map((disk) =>
    Object.fromEntries(parts.map((part) => [part, hashOf(disk, part)])),
  );
  expect(hashes).toMatchInlineSnapshot(`
    [
      {
        "audit": "b9d1ba35ab3973c5",
        "documents": "adf66052622decaa",
        "events": "172f5d3da1a5dcdf",
        "journal": "77035e513fcf8491",
        "manifest": "26544e6c7e5c30a2",
        "secret": "0b0e84c6c43e32bc",
      },
      {
        "audit": "642bc38cb2d014e7",
        "documents": "a41907434165c77c",
        "events": "1e919d2ff02a6354",
        "journal": "e1754b4e9769065c",
        "manifest": "fe1ca4733d1bfc37",
        "secret": "0b0e84c6c43e32bc",
      },
      {
        "audit": "23b6d26600b99382",
        "documents": "84b996429dcc2ab9",
        "events": "1e919d2ff02a6354",
        "journal": "e1754b4e9769065c",
        "manifest": "7c1c4ce281034945",
        "secret": "0b0e84c6c43e32bc",
      },
    ]
  `);
});
