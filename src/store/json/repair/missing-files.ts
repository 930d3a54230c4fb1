import type { LogFilesPosition } from '../log/day-files.ts';
import type { RepairContext } from './repair-context.ts';

/** Tells of day files that are missing, or shorter than the mark says. Answers the names of all that should be there. */
export async function reportMissingFiles(
  { from, log }: RepairContext,
  folder: 'events' | 'audit',
  mark: LogFilesPosition | undefined,
  there: readonly string[],
): Promise<string[]> {
  const { file = null, gone, size = 0, files = {} } = mark ?? {};
  const expected = Object.entries({ ...files, ...(file !== null && !gone && { [file]: size }) });
  for (const [day, least] of expected) {
    const name = `${folder}/${day}`;
    const found = (await from.disk.sizeOf(`${from.directory}/${name}`)) ?? 0;
    if (!there.includes(day)) log.add(name, 'the file is missing', { lost: null });
    else if (found < least)
      log.add(name, `it had ${least} bytes, the rest is missing`, { offset: found, lost: null });
  }
  return expected.map(([day]) => day);
}
