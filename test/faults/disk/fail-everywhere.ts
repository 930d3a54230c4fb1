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
  /** Every nth operation fails, starting with `first`. */
  every?: number;
  first?: number;
  /** Only these operations fail, as `operation path`. */
  only?: RegExp;
  /** Stops at the first violation. */
  untilBad?: boolean;
}

export interface FailureReport {
  /** Number of disk operations of a life. */
  operations: number;
  /** Number of lives with one failure each. */
  lives: number;
  /** Number of final states opened, with different combinations of unsynced data. */
  states: number;
  bad: string[];
}

/** The failure of a life, and its time. */
interface Failed {
  step: number;
  what: string;
  /** Number of starts before it. */
  starts: number;
  isSyncOf: 'changes' | 'batches' | undefined;
}

/**
 * Number of final states after a power cut that are opened. One of them loses all unsynced data.
 */
const mostStates = 6;

const logOf = (path: string) =>
  path.includes('/journal/') ? 'changes' : path.includes('/events/') ? 'batches' : undefined;

/** After a failed sync of a log, nothing more may be acknowledged in it until the next start. */
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

/** Runs one life in which operation `number` fails. 0: none fails. */
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

/** Opens the final contents after a kill, and after a power cut with and without unsynced data. */
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
 * Runs a life for each disk operation and each way in which it can fail. Acknowledged data must be
 * present, while the store runs and after a crash. Reads must work, and rejected changes must
 * answer `unavailable`. When the disk has recovered, the store must work, after a restart at the
 * latest.
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
