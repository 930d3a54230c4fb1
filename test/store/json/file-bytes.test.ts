import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { dayMs, minuteMs } from '../../../src/domain/clock.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { guid } from '../sample-batch.ts';
import { auditRow } from '../sample-rows.ts';
import { CrashDisk } from './crash-disk.ts';
import { fullFiles, openOn, passTime } from './full-store.ts';

type Files = ReadonlyMap<string, Buffer>;

/** Starts after the crash, deletes a device and an old day, and stops. */
async function restarted(files: Files, nowMs: number): Promise<Files> {
  const disk = new CrashDisk();
  const clock = new ManualClock(nowMs);
  for (const [path, bytes] of files) disk.plant(path, bytes);
  const store = await openOn(disk, clock);
  await passTime(clock, minuteMs);
  await store.purgeBefore(clock.now() - dayMs);
  await store.write(async (tx) => {
    await tx.delete('devices', guid('devi', 5));
    await tx.audit(auditRow(100, { at: clock.now() }));
  });
  await passTime(clock, minuteMs);
  await store.close();
  return disk.files();
}

/** SHA-256 of the names and contents of the files in one folder of a data folder. */
function hashOf(files: Files, folder: string): string {
  const hash = createHash('sha256');
  for (const [path, bytes] of [...files].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (!path.startsWith(`/data/${folder}`)) continue;
    hash.update(`${path} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex').slice(0, 16);
}

const parts = ['manifest', 'secret', 'journal', 'events', 'audit', 'documents'];

it('a fixed history leaves the same files, byte for byte, in each version', async () => {
  const { stopped, crashed, nowMs } = await fullFiles();
  const hashes = [stopped, crashed, await restarted(crashed, nowMs)].map((files) =>
    Object.fromEntries(parts.map((part) => [part, hashOf(files, part)])),
  );
  expect(hashes).toMatchInlineSnapshot(`
    [
      {
        "audit": "3d3ae34b9ee3f155",
        "documents": "a6c6cf17959d14b3",
        "events": "d56101fc11d62326",
        "journal": "6126575046fb56b3",
        "manifest": "90a0a09156efe308",
        "secret": "0b0e84c6c43e32bc",
      },
      {
        "audit": "3fcbbd4e0de79451",
        "documents": "4f1fc8a1f62767c4",
        "events": "d56101fc11d62326",
        "journal": "3d7388340620138e",
        "manifest": "7b15d42e62da6223",
        "secret": "0b0e84c6c43e32bc",
      },
      {
        "audit": "29516998782ee875",
        "documents": "09e84b2d634b08d0",
        "events": "d544cff49e99f983",
        "journal": "abcf17138846b505",
        "manifest": "c42ae36a02e8acc0",
        "secret": "0b0e84c6c43e32bc",
      },
    ]
  `);
});
