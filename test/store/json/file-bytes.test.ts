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
        "documents": "7c932d304e2bdcdb",
        "events": "8aeaeef3640d196b",
        "journal": "140f2da764aec0dc",
        "manifest": "9bc82974033f2b3a",
        "secret": "0b0e84c6c43e32bc",
      },
      {
        "audit": "3fcbbd4e0de79451",
        "documents": "9e63d5a53b2bda55",
        "events": "8aeaeef3640d196b",
        "journal": "14dd6cf372cfcda3",
        "manifest": "2845abf332646da4",
        "secret": "0b0e84c6c43e32bc",
      },
      {
        "audit": "29516998782ee875",
        "documents": "955111af5955b2fa",
        "events": "5fa41b774bca9fd6",
        "journal": "abcf17138846b505",
        "manifest": "279d064241f2dccd",
        "secret": "0b0e84c6c43e32bc",
      },
    ]
  `);
});
