import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { type Clock, iso, systemClock } from '../../domain/clock.ts';
import { type RestoreOptions, restoreDump } from '../dump/restore-dump.ts';
import { writeDump } from '../dump/write-dump.ts';
import { nodeFileSystem, writeFully } from '../json/disk/file-system.ts';
import { writeNewFile } from '../json/disk/replace-file.ts';
import { readDamagedFolder } from '../json/repair/damaged-folder.ts';
import { type FolderFinding, FolderFindings } from '../json/repair/finding.ts';
import { asUnusable, contextOf, whileStopped } from './data-folder.ts';
import { openTarget } from './restore.ts';

export interface RepairOptions extends Pick<RestoreOptions, 'onProgress' | 'signal'> {
  clock?: Clock;
  /**
   * Keeps device keys, tokens and pairing codes of which a revocation may be among the lost
   * changes. Default: they are revoked.
   */
  keepUnproved?: boolean;
}

/**
 * Dumps everything undamaged in a data folder, and restores the dump into another folder, which
 * must be empty or missing. The damaged folder is not changed. Returns everything that was lost,
 * left out or revoked. `repair-<time>.json` in the new folder has the same list.
 *
 * Throws `store_locked` while either folder is in use, `folder_not_empty` and
 * `restore_unfinished`. Throws `invalid_option` for a folder that is not a data folder, and
 * `store_damaged` when nothing can be recovered.
 *
 * @example
 * const findings = await repairStore('./signage-data', './repaired');
 * const isComplete = findings.every(({ lost }) => lost === 0);
 */
export async function repairStore(
  folder: string,
  into: string,
  { clock = systemClock, keepUnproved = false, ...options }: RepairOptions = {},
): Promise<FolderFinding[]> {
  const from = contextOf(resolve(folder), clock);
  const directory = resolve(into);
  const repair = async () => {
    const target = await openTarget(directory, clock);
    const findings = new FolderFindings();
    const at = iso(clock.now());
    const dump = async function* () {
      const read = await readDamagedFolder(from, findings, { random: randomBytes, keepUnproved });
      yield* writeDump(read.source, at);
    };
    await restoreDump(dump(), target, { ...options, name: folder });
    const report = { at, from: from.directory, into: directory, findings: findings.all };
    const path = `${directory}/repair-${at.replaceAll(':', '-')}.json`;
    await writeNewFile(nodeFileSystem, path, (file) =>
      writeFully(file, Buffer.from(`${JSON.stringify(report, null, 1)}\n`)),
    );
    return findings.all;
  };
  return whileStopped(from.directory, () =>
    repair().catch((error: unknown) => {
      throw asUnusable(error, `${from.directory} cannot be repaired into ${directory}`);
    }),
  );
}
