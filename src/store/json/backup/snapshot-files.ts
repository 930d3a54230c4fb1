import type { FileSystem } from '../disk/file-system.ts';
import { segmentsFrom } from '../journal/segments.ts';
import type { LogFilesPosition } from '../log/day-files.ts';
import type { LogRange } from '../log/framed-log.ts';
import { type ManifestData, manifestBytes } from '../manifest.ts';

/**
 * One file of a snapshot: its name in the data folder, and how many of its bytes belong to the
 * snapshot.
 */
export interface SnapshotFile {
  name: string;
  size: number;
  /** Content to use instead of the file on disk. */
  bytes?: Uint8Array;
}

/** Parts of a snapshot, all taken at the same moment. */
export interface Snapshot {
  /** In milliseconds. */
  at: number;
  manifest: ManifestData;
  journal: LogRange['end'];
  events: LogRange;
  audit: LogRange;
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
  const { at, manifest, journal, events, audit } = snapshot;
  const { file: first } = (manifest.marks.journal as LogFilesPosition | undefined) ?? {
    file: null,
  };
  const segments = await segmentsFrom(disk, `${directory}/journal`, first);
  const names = segments.filter((name) => journal.file !== null && name <= journal.file);
  const bytes = manifestBytes({ ...manifest, clean: false, backup: { at } });
  return [
    { name: 'secret', size: (await disk.sizeOf(`${directory}/secret`)) ?? 0 },
    ...Object.values(manifest.documents).map(({ file, size }) => ({
      name: `documents/${file}`,
      size,
    })),
    ...(await logFiles(disk, directory, 'audit', audit)),
    ...(await logFiles(disk, directory, 'events', events)),
    ...(await logFiles(disk, directory, 'journal', { names, end: journal })),
    { name: 'manifest.json', size: bytes.length, bytes },
  ];
}

/**
 * Lists the files of a log. The last file ends where the snapshot ends; earlier files are complete.
 */
async function logFiles(
  disk: FileSystem,
  directory: string,
  folder: string,
  { names, end }: LogRange,
): Promise<SnapshotFile[]> {
  const files: SnapshotFile[] = [];
  for (const file of names) {
    const name = `${folder}/${file}`;
    const size = file === end.file ? end.size : await disk.sizeOf(`${directory}/${name}`);
    files.push({ name, size: size ?? 0 });
  }
  return files;
}
