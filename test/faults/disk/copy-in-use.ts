import { crc32 } from 'node:zlib';
import { hasCode } from '../../../src/domain/error.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { directory, openOn } from '../crashes/checker.ts';
import { compare } from '../crashes/compare.ts';
import { contentsOf } from '../crashes/contents.ts';
import { readableFiles } from '../crashes/crash-states.ts';
import { type Run, timeAt, unsure } from '../crashes/model.ts';
import { diskOf, type Files, RecordedDisk } from '../crashes/recorded-disk.ts';
import { CrashScenario } from '../crashes/scenario.ts';
import { allSteps } from '../crashes/steps.ts';

export interface CopyReport {
  copies: number;
  /** The copy is damaged, and its start is refused. */
  refused: number;
  /** The copy starts with a prefix of the changes and batches, as after an earlier crash. */
  earlier: number;
  bad: string[];
}

const folders = ['', '/audit', '/documents', '/events', '/journal'];

/** Returns a number from 0 to just below 1. The same name gives the same number. */
const chance = (name: string) => crc32(name) / 2 ** 32;

function inFolder(files: Files, folder: string): string[] {
  const before = `${directory}${folder}/`;
  return [...files.keys()].filter(
    (path) => path.startsWith(before) && !path.slice(before.length).includes('/'),
  );
}

/** Returns a copy as `cp -r` makes it: folders and files are read one after another. */
function copyOf(moments: readonly Files[], seed: string): Files {
  const copy = new Map<string, Buffer>();
  const stepsEach = chance(`${seed} pace`) * 12;
  let moment = chance(`${seed} begin`) * moments.length * 0.7;
  const now = () => moments[Math.min(Math.floor(moment), moments.length - 1)] as Files;
  const inOrder = <T>(of: readonly T[]) =>
    [...of].sort((a, b) => chance(`${seed} ${a}`) - chance(`${seed} ${b}`));
  for (const folder of inOrder(folders)) {
    for (const path of inOrder(inFolder(now(), folder))) {
      moment += chance(`${seed} ${path} ${moment}`) * stepsEach;
      const bytes = now().get(path);
      if (bytes) copy.set(path, bytes);
    }
  }
  return copy;
}

async function judge(
  copy: Files,
  run: Run,
  step: number,
): Promise<'refused' | 'earlier' | string[]> {
  try {
    const store = await openOn(diskOf(copy), new ManualClock(timeAt(run, step)));
    const { contents, wrong } = await contentsOf(store);
    wrong.push(...compare(contents, unsure(run), step).wrong);
    return wrong.length === 0 ? 'earlier' : wrong;
  } catch (error) {
    return hasCode(error, 'store_damaged')
      ? 'refused'
      : [`it is answered ${(error as Error).stack}`];
  }
}

/**
 * Copies the folder of a running store many times. Each copy must be refused, or equal the state
 * after an earlier crash.
 */
export async function copyInUse(copies: number): Promise<CopyReport> {
  const recorded = new RecordedDisk();
  const run = await new CrashScenario(recorded).live(allSteps(2));
  const moments = [...readableFiles(new Map(), recorded.steps)];
  const report: CopyReport = { copies, refused: 0, earlier: 0, bad: [...run.wrong] };
  for (let copy = 0; copy < copies; copy++) {
    const outcome = await judge(copyOf(moments, String(copy)), run, recorded.steps.length);
    if (Array.isArray(outcome)) report.bad.push(...outcome.map((what) => `copy ${copy}: ${what}`));
    else report[outcome]++;
  }
  return report;
}
