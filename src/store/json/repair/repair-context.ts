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
