import { type FileSystem, type OpenFile, writeFully } from '../disk/file-system.ts';
import type { LogFilesPosition } from '../log/day-files.ts';
import { fileProblems, type LogFiles, type LogFormat, listLog } from '../log/log-records.ts';
import type { PartContext } from '../parts.ts';
import type { RepairLog } from './repair-log.ts';

/** The damaged folder to read, and the new folder to write. */
export interface RepairContext {
  from: PartContext;
  /** The new folder, on the same disk. */
  into: PartContext;
  log: RepairLog;
  /**
   * Whether to remove the links of audit entries, because the secret that they depend on is lost.
   */
  dropsLinks?: boolean;
}

/** New files of a log, written one after the other. */
export class NewLog {
  /** Sizes in bytes of the files. */
  readonly sizes: Record<string, number> = {};
  readonly #disk: FileSystem;
  readonly #directory: string;
  #name: string | undefined;
  #file: OpenFile | undefined;

  constructor({ disk, directory }: PartContext, folder: string) {
    this.#disk = disk;
    this.#directory = `${directory}/${folder}`;
  }

  /** Appends to the newest file, or to a new one. */
  async add(name: string, bytes: Uint8Array): Promise<void> {
    if (name !== this.#name || !this.#file) {
      await this.close();
      this.#file = await this.#disk.create(`${this.#directory}/${name}`);
      this.#name = name;
    }
    await writeFully(this.#file, bytes);
    this.sizes[name] = (this.sizes[name] ?? 0) + bytes.length;
  }

  async close(): Promise<void> {
    await this.#file?.datasync();
    await this.#file?.close();
    this.#file = undefined;
  }
}

/**
 * Lists the files of a damaged log. Reports files that are missing or shorter than the manifest
 * says.
 */
export async function damagedLog<Position extends LogFilesPosition>(
  { from, log }: RepairContext,
  format: LogFormat<unknown, Position>,
  position: Position = format.start,
): Promise<LogFiles> {
  const files = await listLog(from, format, position);
  for (const { file, what, offset } of await fileProblems(files, position, 'damaged'))
    log.add(`${format.folder}/${file}`, what, { offset, lost: null });
  return files;
}

/** Writes a whole new file. */
export async function writeFile(
  { disk, directory }: PartContext,
  name: string,
  bytes: Uint8Array,
): Promise<void> {
  const file = await disk.create(`${directory}/${name}`);
  await writeFully(file, bytes);
  await file.datasync();
  await file.close();
}
