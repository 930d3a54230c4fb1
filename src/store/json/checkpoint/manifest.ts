import { type Adapter, Low } from 'lowdb';
import { SignageError } from '../../../domain/error.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { replaceContents } from '../disk/replace-file.ts';
import { damageError } from '../log/damage.ts';
import { frame, isValidRecord } from '../log/frame.ts';
import type { DocumentEntry } from './document-file.ts';

/** The data format. A start turns folders of the released formats into it. */
const dataFormat = 10;
/** 9: of 0.1.0. Its rows are rows of this format without newer members. */
const readableFormats: readonly number[] = [9, dataFormat];

/**
 * One state of the store: its documents, and the positions of its parts. Documents that it does not
 * name are leftovers.
 */
export interface ManifestData {
  format: number;
  /** Number of starts. */
  epoch: number;
  /**
   * Number of the last checkpoint. The names of the documents that it wrote contain this number.
   */
  checkpoint: number;
  /** Whether the store was closed cleanly, and nothing was written since. */
  clean: boolean;
  documents: Record<string, DocumentEntry>;
  /** The position of each part (`FilePart`), by its name. */
  marks: Record<string, unknown>;
  /**
   * Checksum of the secret. Absent before the first start, and if a repair rebuilt the manifest.
   */
  secret?: string;
  /**
   * Present after a restore until a store is first started. `at` is the time of the backup in Unix
   * milliseconds.
   */
  backup?: { at: number };
  /**
   * Present in a folder that was restored from a backup made at `backupAt`, and first started at
   * `at`.
   */
  restored?: { backupAt: number; at: number };
}

export const manifestName = 'manifest.json';
/**
 * Marks a folder during a restore or copy, because a killed process leaves an incomplete store
 * behind.
 */
export const restoreMarker = 'restore.unfinished';

export const storeFolders = ['documents', 'journal', 'events', 'audit'];

/**
 * A second copy of the manifest, only for checks and repairs. It is written before the files of the
 * previous manifest are deleted, so all files that it names exist.
 */
export const manifestCopy = 'manifest.copy.json';

/**
 * lowdb adapter for `manifest.json`, which is replaced atomically. The file starts with a checksum,
 * like a line of a log.
 */
function manifestFile(disk: FileSystem, directory: string): Adapter<ManifestData> {
  return {
    read: () => readRecordFile(disk, `${directory}/${manifestName}`),
    async write(manifest) {
      const bytes = manifestBytes(manifest);
      for (const name of [manifestName, manifestCopy])
        await replaceContents(disk, `${directory}/${name}`, bytes);
    },
  };
}

/**
 * Reads a file that consists of one record; `null` if the file does not exist. Throws
 * `store_damaged` if its checksum is wrong.
 */
export async function readRecordFile<T>(disk: FileSystem, path: string): Promise<T | null> {
  if ((await disk.sizeOf(path)) === undefined) return null;
  const bytes = await disk.readFile(path);
  if (bytes.at(-1) !== 0x0a || !isValidRecord(bytes.subarray(0, -1)))
    throw damageError(path, 'its contents were changed or damaged');
  const { crc: _crc, ...content } = JSON.parse(bytes.toString());
  return content;
}

/** Renders the manifest file. */
export function manifestBytes(manifest: ManifestData): Buffer {
  return frame(render(manifest));
}

/** Renders all but the opening brace, one document per line. */
function render({ documents, marks, ...rest }: ManifestData): string {
  const lines = (members: Record<string, unknown>) =>
    Object.entries(members)
      .map(([name, value]) => `\n${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join(',');
  return `${JSON.stringify(rest).slice(1, -1)},"marks":{${lines(marks)}},"documents":{${lines(documents)}}}`;
}

/** Opens the manifest of a folder with lowdb. In a new store `data.epoch` is 0. */
export async function readManifest(
  disk: FileSystem,
  directory: string,
): Promise<Low<ManifestData>> {
  const empty: ManifestData = {
    format: dataFormat,
    epoch: 0,
    checkpoint: 0,
    clean: false,
    documents: {},
    marks: {},
  };
  const manifest = new Low<ManifestData>(manifestFile(disk, directory), empty);
  await manifest.read();
  refuseOtherFormat(manifest.data, directory);
  manifest.data.format = dataFormat;
  return manifest;
}

/** Throws `store_other_format` if this version cannot read the format. */
export function refuseOtherFormat({ format }: ManifestData, directory: string): void {
  if (readableFormats.includes(format)) return;
  throw new SignageError(
    'store_other_format',
    `${directory} was written by another version (format ${format}, not ${dataFormat}): start that version, or choose an empty folder. Nothing was changed.`,
  );
}
