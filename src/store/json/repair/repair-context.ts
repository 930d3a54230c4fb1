import { type FileSystem, type OpenFile, writeFully } from '../disk/file-system.ts';
import type { PartContext } from '../parts.ts';
import type { RepairLog } from './repair-log.ts';

/** The damaged folder to read, and the new folder to write. */
export interface RepairContext {
  from: PartContext;
  /** On the same disk. */
  into: PartContext;
  log: RepairLog;
  /** The secret is lost, and with it the key of all audit links: links are removed. */
  dropsLinks?: boolean;
}

/** A new file, written sequentially. */
export class NewFile {
  size = 0;
  readonly #file: OpenFile;

  private constructor(file: OpenFile) {
    this.#file = file;
  }

  static async create(disk: FileSystem, path: string): Promise<NewFile> {
    return new NewFile(await disk.create(path));
  }

  async add(bytes: Uint8Array): Promise<void> {
    await writeFully(this.#file, bytes);
    this.size += bytes.length;
  }

  async close(): Promise<void> {
    await this.#file.datasync();
    await this.#file.close();
  }
}

/** Writes a whole new file. */
export async function writeFile(
  { disk, directory }: PartContext,
  name: string,
  bytes: Uint8Array,
): Promise<void> {
  const file = await NewFile.create(disk, `${directory}/${name}`);
  await file.add(bytes);
  await file.close();
}
