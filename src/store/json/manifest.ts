import { type Adapter, Low } from 'lowdb';
import { SignageError } from '../../domain/error.ts';
import type { DocumentEntry } from './checkpoint/document-file.ts';
import { type FileSystem, writeFully } from './disk/file-system.ts';
import { replaceFile } from './disk/replace-file.ts';
import { damaged } from './log/damage.ts';
import { frame, isWhole } from './log/frame.ts';

/** The newest format. `upgradeSteps` bring older ones up to it. */
export const dataFormat = 1;

/** Names all that belongs to one state of the store; what it does not name is a leftover. */
export interface ManifestData {
  format: number;
  /** Counts starts. */
  epoch: number;
  /** Counts checkpoints: each writes its documents under this number. */
  checkpoint: number;
  /** The store was closed, and nothing has been written since. */
  clean: boolean;
  documents: Record<string, DocumentEntry>;
  /** How far the logs are good, by part. */
  marks: Record<string, unknown>;
  /** The checksum of the secret; absent until the first start of a version that notes it. */
  secret?: string;
  /** This is a copy, made then (milliseconds), that was never started. */
  backup?: { at: number };
  /** This was such a copy, and was first started then. */
  restored?: { backupAt: number; at: number };
}

export const manifestName = 'manifest.json';
/** A second copy, for repairs alone. It is written before what the one before names is deleted: all that it names is there. */
export const manifestCopy = 'manifest.copy.json';

/** `manifest.json`, written whole or not at all. It begins with the checksum of what follows, as a log's line does. */
class ManifestFile implements Adapter<ManifestData> {
  readonly #disk: FileSystem;
  readonly #directory: string;

  constructor(disk: FileSystem, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  get #path(): string {
    return `${this.#directory}/${manifestName}`;
  }

  async read(): Promise<ManifestData | null> {
    return readManifestFile(this.#disk, this.#path);
  }

  async write(manifest: ManifestData): Promise<void> {
    const bytes = manifestBytes(manifest);
    for (const path of [this.#path, `${this.#directory}/${manifestCopy}`]) {
      await replaceFile(this.#disk, path, (file) => writeFully(file, bytes));
      await this.#disk.syncDirectory(this.#directory);
    }
  }
}

/** What stands in a manifest's file, `null` when there is none. Throws `store_damaged`. */
export async function readManifestFile(
  disk: FileSystem,
  path: string,
): Promise<ManifestData | null> {
  if ((await disk.sizeOf(path)) === undefined) return null;
  const bytes = await disk.readFile(path);
  if (bytes.at(-1) !== 0x0a || !isWhole(bytes.subarray(0, -1)))
    throw damaged(path, 'its contents are not what was written');
  const { crc: _crc, ...manifest } = JSON.parse(bytes.toString());
  return manifest;
}

/** The file's contents. */
export function manifestBytes(manifest: ManifestData): Buffer {
  return frame(render(manifest));
}

/** All but the opening brace, a document on each line. */
function render({ documents, marks, ...rest }: ManifestData): string {
  const lines = (members: Record<string, unknown>) =>
    Object.entries(members)
      .map(([name, value]) => `\n${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join(',');
  return `${JSON.stringify(rest).slice(1, -1)},"marks":{${lines(marks)}},"documents":{${lines(documents)}}}`;
}

/** The manifest of a folder: lowdb keeps it in `data`, `read` and `write` go to the disk. In a new store `data.epoch` is 0. */
export async function readManifest(
  disk: FileSystem,
  directory: string,
  format = dataFormat,
): Promise<Low<ManifestData>> {
  const empty: ManifestData = {
    format,
    epoch: 0,
    checkpoint: 0,
    clean: false,
    documents: {},
    marks: {},
  };
  const manifest = new Low<ManifestData>(new ManifestFile(disk, directory), empty);
  await manifest.read();
  refuseNewer(manifest.data, directory, format);
  return manifest;
}

/** Throws `store_too_new` for what this version cannot read. */
export function refuseNewer({ format }: ManifestData, directory: string, known = dataFormat): void {
  if (format <= known) return;
  const message = `${directory} was written by a newer version (format ${format}): start that one. Nothing was changed.`;
  throw new SignageError('store_too_new', message);
}
