import { type Adapter, Low } from 'lowdb';
import { SignageError } from '../../domain/error.ts';
import { damaged } from './damage.ts';
import type { DocumentEntry } from './document-file.ts';
import { type FileSystem, writeFully } from './file-system.ts';
import { frame, isWhole } from './frame.ts';
import { replaceFile } from './replace-file.ts';

/** The one format there is. An older one would be brought up to date in `readManifest`, after a copy of the folder in `backup-<format>/`. */
const dataFormat = 1;

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
}

const fileName = 'manifest.json';

/** `manifest.json`, written whole or not at all. It begins with the checksum of what follows, as a log's line does. */
class ManifestFile implements Adapter<ManifestData> {
  readonly #disk: FileSystem;
  readonly #directory: string;

  constructor(disk: FileSystem, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  get #path(): string {
    return `${this.#directory}/${fileName}`;
  }

  async read(): Promise<ManifestData | null> {
    if ((await this.#disk.sizeOf(this.#path)) === undefined) return null;
    const bytes = await this.#disk.readFile(this.#path);
    if (!isWhole(bytes.subarray(0, -1))) throw damaged(this.#path, 'its contents are not what was written');
    const { crc: _crc, ...manifest } = JSON.parse(bytes.toString());
    return manifest;
  }

  async write(manifest: ManifestData): Promise<void> {
    await replaceFile(this.#disk, this.#path, (file) => writeFully(file, frame(render(manifest))));
    await this.#disk.syncDirectory(this.#directory);
  }
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
export async function readManifest(disk: FileSystem, directory: string): Promise<Low<ManifestData>> {
  const empty: ManifestData = { format: dataFormat, epoch: 0, checkpoint: 0, clean: false, documents: {}, marks: {} };
  const manifest = new Low<ManifestData>(new ManifestFile(disk, directory), empty);
  await manifest.read();
  const { format } = manifest.data;
  if (format > dataFormat) {
    throw new SignageError(
      'store_too_new',
      `${directory} was written by a newer version (format ${format}): start that one. Nothing was changed.`,
    );
  }
  return manifest;
}
