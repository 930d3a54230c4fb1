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
        "documents": "a4666fddaf17b14f",
        "events": "8aeaeef3640d196b",
        "journal": "6126575046fb56b3",
        "manifest": "e85aa1bbbbcbe24a",
        "secret": "0b0e84c6c43e32bc",
      },
      {
        "audit": "3fcbbd4e0de79451",
        "documents": "e8dc6d71021ea950",
        "events": "8aeaeef3640d196b",
        "journal": "3d7388340620138e",
        "manifest": "f926cfaa07a29303",
        "secret": "0b0e84c6c43e32bc",
      },
      {
        "audit": "29516998782ee875",
        "documents": "227d355c26bb3245",
        "events": "5fa41b774bca9fd6",
        "journal": "abcf17138846b505",
        "manifest": "e5bb8caa3883608e",
        "secret": "0b0e84c6c43e32bc",
      },
    ]
  `);
});
