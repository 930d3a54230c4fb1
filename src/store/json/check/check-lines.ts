import type { FileSystem } from '../disk/file-system.ts';
import { type FoundFrame, readFrames } from '../log/frame.ts';
import type { Findings } from './finding.ts';

/** One file of a log, and what is to be thought of it. */
export interface CheckedFile {
  /** Its name in the data folder. */
  name: string;
  /** From this byte on it may end in what a crash left of a write, which is no damage; `Infinity` when it may not. */
  tornFrom: number;
  /** What is wrong with an undamaged line, if anything. `afterGap`: lines before it are damaged. */
  judge(found: FoundFrame, afterGap: boolean): string | undefined;
}

/** Reads all lines of a file of a log and tells of all that are damaged. Answers whether it ends in some. */
export async function checkLines(
  disk: FileSystem,
  directory: string,
  file: CheckedFile,
  findings: Findings,
): Promise<boolean> {
  const { name, tornFrom, judge } = file;
  let bad: number[] = [];
  const report = () => {
    for (const offset of bad) findings.damage(name, 'a record is damaged', offset);
  };
  for await (const found of readFrames(disk, `${directory}/${name}`)) {
    if (!found.whole) {
      bad.push(found.offset);
      continue;
    }
    const wrong = judge(found, bad.length > 0);
    report();
    if (wrong !== undefined) findings.damage(name, wrong, found.offset);
    bad = [];
  }
  const [first] = bad;
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
