import type { FileSystem } from '../disk/file-system.ts';
import { segmentsFrom } from '../journal/segments.ts';
import type { LogFilesPosition } from '../log/day-files.ts';
import { type ManifestData, manifestBytes } from '../manifest.ts';
import type { LogRange } from '../parts.ts';

/** One file of a state of the store: its name in the data folder, and how much of it belongs to the state. */
export interface SnapshotFile {
  name: string;
  size: number;
  /** What stands in place of the file on the disk. */
  bytes?: Uint8Array;
}

/** What a state is made of, all taken at one instant. */
export interface Snapshot {
  /** In milliseconds. */
  at: number;
  manifest: ManifestData;
  journal: LogRange['end'];
  events: LogRange;
  audit: LogRange;
}

/**
 * The files of a state, the manifest last: a copy that was cut short has none, and is taken for no store. It is a state as a crash leaves it, without a
 * torn tail: what is in no document yet is read from the logs at the next start. Nothing that the instant names may be deleted until it was read.
 */
export async function snapshotFiles(
  disk: FileSystem,
  directory: string,
  instant: Snapshot,
): Promise<SnapshotFile[]> {
  const { at, manifest, journal, events, audit } = instant;
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

/** Files of a log: the last one up to where the state ends, those before it wholly. */
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
