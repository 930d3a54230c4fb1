import type { FileSystem } from '../disk/file-system.ts';
import { type FoundFrame, readFrames } from '../log/frame.ts';
import type { Findings } from './finding.ts';

/** One file of a log, and how to check it. */
export interface CheckedFile {
  /** Its name in the data folder. */
  name: string;
  /**
   * A torn write at or after this byte is not damage, since a crash may leave one. `Infinity`: a
   * torn write is damage anywhere.
   */
  tornFrom: number;
  /**
   * Returns what is wrong with an undamaged line, if anything. `afterGap`: the lines before it are
   * damaged.
   */
  checkLine(found: FoundFrame, afterGap: boolean): string | undefined;
}

/**
 * Reads all lines of a log file and reports the damaged ones. Returns whether the file ends with
 * damage.
 */
export async function checkLines(
  disk: FileSystem,
  directory: string,
  file: CheckedFile,
  findings: Findings,
): Promise<boolean> {
  const { name, tornFrom, checkLine } = file;
  let damagedAt: number[] = [];
  const report = () => {
    for (const offset of damagedAt) findings.damage(name, 'a record is damaged', offset);
  };
  for await (const found of readFrames(disk, `${directory}/${name}`)) {
    if (!found.whole) {
      damagedAt.push(found.offset);
      continue;
    }
    const wrong = checkLine(found, damagedAt.length > 0);
    report();
    if (wrong !== undefined) findings.damage(name, wrong, found.offset);
    damagedAt = [];
  }
  const [first] = damagedAt;
  if (first === undefined) return false;
  const isTorn = first >= tornFrom;
  if (isTorn)
    findings.note(
      name,
      'it ends in a record that was never acknowledged: the next start cuts it off',
      first,
    );
  else report();
  return !isTorn;
}
