import type { FileSystem } from '../disk/file-system.ts';
import type { LogRange } from '../log/framed-log.ts';
import { type ManifestData, manifestBytes } from '../manifest.ts';

/**
 * One file of a snapshot: its name in the data folder, and how many of its bytes belong to the
 * snapshot.
 */
export interface SnapshotFile {
  name: string;
  size: number;
  /** Content of the file, if it is not read from the disk. */
  bytes?: Uint8Array;
}

/** Parts of a snapshot, all taken at the same moment. */
export interface Snapshot {
  /** Time of the snapshot, in milliseconds. */
  at: number;
  manifest: ManifestData;
  /** The parts of the logs that belong to the snapshot, by folder. The journal comes last. */
  logs: Record<'audit' | 'events' | 'journal', LogRange>;
}

/**
 * Lists the files of a snapshot. The manifest comes last: a truncated copy lacks it, and cannot be
 * opened as a store.
 *
 * A snapshot has the same state as a folder after a crash, but without a torn write. At start, the
 * logs supply the records that the documents lack. The files must not be deleted until they are
 * read.
 */
export async function snapshotFiles(
  disk: FileSystem,
  directory: string,
  snapshot: Snapshot,
): Promise<SnapshotFile[]> {
  const { at, manifest, logs } = snapshot;
  const sizeOf = async (name: string) => (await disk.sizeOf(`${directory}/${name}`)) ?? 0;
  const files: SnapshotFile[] = [{ name: 'secret', size: await sizeOf('secret') }];
  for (const { file, size } of Object.values(manifest.documents))
    files.push({ name: `documents/${file}`, size });
  for (const [folder, { names, end }] of Object.entries(logs)) {
    for (const file of names) {
      const name = `${folder}/${file}`;
      // The last file ends where the snapshot ends; earlier files are complete.
      files.push({ name, size: file === end.file ? end.size : await sizeOf(name) });
    }
  }
  const bytes = manifestBytes({ ...manifest, clean: false, backup: { at } });
  return [...files, { name: 'manifest.json', size: bytes.length, bytes }];
}
