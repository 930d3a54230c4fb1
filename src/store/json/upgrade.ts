import type { Low } from 'lowdb';
import type { FileSystem } from './disk/file-system.ts';
import { copyFile } from './disk/replace-file.ts';
import { type ManifestData, manifestName, storeFolders } from './manifest.ts';
import type { PartContext } from './parts.ts';

/**
 * Converts a folder from one format to the next: writes new files under new names and returns the
 * manifest that names them. May be interrupted at any point and repeated. Must not delete files
 * that the old manifest names.
 */
export type UpgradeStep = (
  disk: FileSystem,
  directory: string,
  manifest: ManifestData,
) => Promise<ManifestData>;

/** The first step converts format 1 to 2, and so on. There is only one format so far. */
export const upgradeSteps: readonly UpgradeStep[] = [];

/**
 * Upgrades a folder to the newest format, one step at a time. Before each step it copies the folder
 * to the subfolder `backup-<format>/`, which the older version can start from.
 */
export async function upgradeFolder(
  context: PartContext,
  manifest: Low<ManifestData>,
  steps: readonly UpgradeStep[],
): Promise<void> {
  if (manifest.data.epoch === 0) return;
  const { disk, directory, warn } = context;
  for (const step of steps.slice(manifest.data.format - 1)) {
    const { format } = manifest.data;
    const backup = `${directory}/backup-${format}`;
    await copyFolder(disk, directory, backup);
    manifest.data = { ...(await step(disk, directory, manifest.data)), format: format + 1 };
    await manifest.write();
    warn(
      `${directory} was upgraded from format ${format} to ${format + 1}. A copy in the old format is kept in ${backup}.`,
    );
  }
}

/** Copies the manifest last: a copy with a manifest is complete. */
async function copyFolder(disk: FileSystem, directory: string, backup: string): Promise<void> {
  if ((await disk.sizeOf(`${backup}/${manifestName}`)) !== undefined) return;
  await disk.makeDirectory(backup);
  await copyFile(disk, `${directory}/secret`, `${backup}/secret`);
  for (const folder of storeFolders) {
    await disk.makeDirectory(`${backup}/${folder}`);
    for (const name of await disk.list(`${directory}/${folder}`)) {
      await copyFile(disk, `${directory}/${folder}/${name}`, `${backup}/${folder}/${name}`);
    }
    await disk.syncDirectory(`${backup}/${folder}`);
  }
  await disk.syncDirectory(backup);
  await copyFile(disk, `${directory}/${manifestName}`, `${backup}/${manifestName}`);
  await disk.syncDirectory(backup);
}
