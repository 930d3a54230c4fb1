import { checkState, type Defect } from '../crashes/checker.ts';
import { crashStates } from '../crashes/crash-states.ts';
import type { Run } from '../crashes/model.ts';
import { RecordedDisk } from '../crashes/recorded-disk.ts';
import { CrashScenario } from '../crashes/scenario.ts';
import { nameOf } from '../crashes/search-crash-states.ts';
import { allSteps, type Step } from '../crashes/steps.ts';
import { FailingDisk, type Failure, failuresOf } from './failing-disk.ts';

export interface FailureSearch {
  scenarioSteps?: readonly Step[];
  /** Each so many-th operation fails, beginning with `first`. */
  every?: number;
  first?: number;
  /** Only these operations fail, as `operation path`. */
  only?: RegExp;
  /** Stop at the first thing that is bad. */
  untilBad?: boolean;
}

export interface FailureReport {
  /** Operations that a life asks of the disk. */
  operations: number;
  /** Lives in each of which one of them failed, in one way. */
  lives: number;
  /** What was on the disk afterwards, with each combination of what was not synced, and opened. */
  states: number;
  bad: string[];
}

/** What a disk did wrong in a life, and when. */
interface Failed {
  step: number;
  what: string;
  /** Starts before it. */
  starts: number;
  isSyncOf: 'changes' | 'batches' | undefined;
}

/**
 * Of what a power cut may leave in the end, so many are opened: nothing kept of what was not
 * synced, and others.
 */
const mostStates = 6;

const logOf = (path: string) =>
  path.includes('/journal/') ? 'changes' : path.includes('/events/') ? 'batches' : undefined;

/** After a failed sync of a log nothing more is acknowledged in it, until the next start. */
function acknowledgedAfter({ isSyncOf, step, starts }: Failed, run: Run): string[] {
  if (!isSyncOf) return [];
  const restart = run.starts[starts] ?? Number.POSITIVE_INFINITY;
  const late = run[isSyncOf].entries.filter(
    ({ acknowledged }) => acknowledged > step && acknowledged < restart,
  );
  return late.length === 0
    ? []
    : [`after a failed sync, ${isSyncOf} ${late.map(({ number }) => number)} are acknowledged`];
}

/** One life in which operation `number` fails; from 0 on none does. */
async function liveThrough(
  number: number,
  failure: Failure,
  scenarioSteps: readonly Step[],
  defect: Defect,
) {
  const recorded = new RecordedDisk();
  let failed: Failed | undefined;
  const failing = new FailingDisk((operation, path) => {
    const isSync = operation === 'datasync';
    if (isSync && failure === 'EIO') recorded.lose(path);
    const starts = life.run.starts.length;
    failed = {
      step: recorded.steps.length,
      starts,
      what: `${failure} at ${operation} ${path}`,
      isSyncOf: isSync ? logOf(path) : undefined,
    };
  });
  if (number > 0) failing.failAt(number, failure);
  const life: CrashScenario = new CrashScenario(recorded, defect, failing);
  const run = await life.live(scenarioSteps);
  const wrong = [...run.wrong, ...(failed ? acknowledgedAfter(failed, run) : [])];
  return { recorded, failing, life, run, failed, wrong };
}

/**
 * What the disk holds in the end, as a process that was killed leaves it, and after a power cut,
 * with and without what was not synced.
 */
async function examineEnd(
  recorded: RecordedDisk,
  run: Run,
  defect: Defect,
): Promise<{ states: number; wrong: string[] }> {
  const step = recorded.steps.length;
  const after = crashStates(new Map(), recorded.steps, {
    tornEveryBytes: 1000,
    combined: 1,
    from: step,
  });
  const killed = { what: 'killed', isTorn: false, step, files: recorded.now.files() };
  const different = [
    ...new Map([killed, ...after].map((state) => [nameOf(state, run), state])).values(),
  ];
  const some = different.filter(
    (_, index) => index % Math.ceil(different.length / mostStates) === 0,
  );
  const wrong: string[] = [];
  for (const { what, files } of some) {
    const found = await checkState(files, run, step, { ...defect, twice: true });
    wrong.push(...found.map((one) => `${what}: ${one}`));
  }
  return { states: some.length, wrong };
}

/**
 * Lives once with each operation of the disk failing, in each way that it can. Whatever fails: what
 * was acknowledged is there, shown while the store runs and
 * found after a crash; reads go on; a change that could not be kept is answered `unavailable`; and
 * once the disk is well the store goes on, after a start at
 * the latest.
 */
export async function failEverywhere(
  search: FailureSearch = {},
  defect: Defect = {},
): Promise<FailureReport> {
  const {
    scenarioSteps = allSteps(2),
    every = 1,
    first = 1,
    only = /./,
    untilBad = false,
  } = search;
  const sound = await liveThrough(0, 'EIO', scenarioSteps, defect);
  const { operations } = sound.failing;
  const report: FailureReport = {
    operations: operations.length,
    lives: 0,
    states: 0,
    bad: [...sound.wrong],
  };
  for (let number = first; number <= operations.length; number += every) {
    const operation = operations[number - 1] ?? '';
    for (const failure of only.test(operation) ? failuresOf(operation.split(' ')[0] ?? '') : []) {
      if (untilBad && report.bad.length > 0) return report;
      report.lives++;
      const { recorded, failing, life, run, failed, wrong } = await liveThrough(
        number,
        failure,
        scenarioSteps,
        defect,
      );
      const end = await examineEnd(recorded, run, defect);
      failing.heal();
      const later = await life.goOn();
      report.states += end.states;
      report.bad.push(
        ...[...wrong, ...end.wrong, ...later].map(
          (what) => `operation ${number}, ${failed?.what}: ${what}`,
        ),
      );
    }
  }
  return report;
}
