import type { LogFilesPosition } from '../log/day-files.ts';
import type { RepairContext } from './repair-context.ts';

/**
 * Reports day files that are missing or shorter than the manifest says. Returns the names of all
 * expected files.
 */
export async function reportMissingFiles(
  { from, log }: RepairContext,
  folder: 'events' | 'audit',
  position: LogFilesPosition | undefined,
  present: readonly string[],
): Promise<string[]> {
  const { file = null, gone, size = 0, files = {} } = position ?? {};
  const expected = Object.entries({ ...files, ...(file !== null && !gone && { [file]: size }) });
  for (const [day, minimumBytes] of expected) {
    const name = `${folder}/${day}`;
    const found = (await from.disk.sizeOf(`${from.directory}/${name}`)) ?? 0;
    if (!present.includes(day)) log.add(name, 'the file is missing', { lost: null });
    else if (found < minimumBytes)
      log.add(name, `it had ${minimumBytes} bytes, the rest is missing`, {
        offset: found,
        lost: null,
      });
  }
  return expected.map(([day]) => day);
}
