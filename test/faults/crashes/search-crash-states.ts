import { hash } from 'node:crypto';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { checkState, type Defect, openOn } from './checker.ts';
import { type CrashState, crashStates } from './crash-states.ts';
import { type Run, timeAt } from './model.ts';
import { type Files, RecordedDisk } from './recorded-disk.ts';
import { CrashScenario } from './scenario.ts';
import { allSteps, type Step, shuffled } from './steps.ts';

export interface CrashSearch {
  /** Number of lives. Each runs its steps in another order, the first in the given order. */
  lives: number;
  /** Approximate number of steps of a life. */
  rounds?: number;
  /** Log records are torn at multiples of this many bytes. */
  tornEveryBytes: number;
  /** Opens every nth distinct state. */
  every?: number;
  /**
   * Opens every nth of those again after another power cut, and all states without torn records.
   */
  twiceEvery?: number;
  /** Interrupts every nth of those starts at each of its steps. */
  recoveryEvery?: number;
  scenarioSteps?: readonly Step[];
  /** Only the states of the last steps. */
  lastSteps?: number;
  /** Stops at the first bad state. */
  first?: boolean;
}

/** Result of a search. */
export interface CrashReport {
  lives: number;
  /** Number of disk changes. */
  steps: number;
  /** Number of distinct states opened. */
  states: number;
  /** Number of those after an interrupted start. */
  inRecovery: number;
  bad: string[];
}

const sums = new WeakMap<Buffer, string>();

function sumOf(bytes: Buffer): string {
  const known = sums.get(bytes) ?? hash('md5', bytes);
  sums.set(bytes, known);
  return known;
}

/** Returns a key of a state: the contents of the disk and the acknowledged requests. */
export function nameOf({ files, step }: CrashState, { changes, batches }: Run): string {
  const names = [...files].map(([path, bytes]) => `${path} ${sumOf(bytes)}`).sort();
  const owed = [changes, batches].map((ledger) => JSON.stringify(ledger.possibleAt(step)));
  return hash('sha1', [...names, ...owed].join('\n'));
}

class Search {
  readonly report: CrashReport = { lives: 0, steps: 0, states: 0, inRecovery: 0, bad: [] };
  readonly #search: CrashSearch;
  readonly #defect: Defect;
  readonly #known = new Set<string>();
  #met = 0;

  constructor(search: CrashSearch, defect: Defect) {
    [this.#search, this.#defect] = [search, defect];
  }

  get isOver(): boolean {
    return this.#search.first === true && this.report.bad.length > 0;
  }

  async live(scenarioSteps: readonly Step[]): Promise<void> {
    const disk = new RecordedDisk();
    const run = await new CrashScenario(disk, this.#defect).live(scenarioSteps);
    this.report.lives++;
    this.report.steps += disk.steps.length;
    this.report.bad.push(...run.wrong);
    if (!this.isOver) await this.#examineAll(new Map(), disk, run);
  }

  async #examineAll(start: Files, disk: RecordedDisk, run: Run): Promise<void> {
    const {
      tornEveryBytes,
      every = 1,
      recoveryEvery,
      lastSteps = disk.steps.length,
    } = this.#search;
    for (const state of crashStates(start, disk.steps, {
      tornEveryBytes,
      combined: 3,
      from: disk.steps.length - lastSteps,
    })) {
      if (this.isOver) return;
      if (!this.#isNew(state, run) || this.#met++ % every !== 0) continue;
      await this.#examine(state, run);
      if (recoveryEvery !== undefined && (this.#met / every) % recoveryEvery < 1)
        await this.#cutStartShort(state, run);
    }
  }

  #isNew(state: CrashState, run: Run): boolean {
    const before = this.#known.size;
    return this.#known.add(nameOf(state, run)).size > before;
  }

  async #examine(state: CrashState, run: Run, when = ''): Promise<void> {
    const { twiceEvery = 8 } = this.#search;
    const twice = !state.isTorn || this.report.states % twiceEvery === 0;
    this.report.states++;
    const wrong = await checkState(state.files, run, state.step, { ...this.#defect, twice });
    this.report.bad.push(
      ...wrong.map((what) => `crashed at step ${state.step}, ${state.what}${when}: ${what}`),
    );
  }

  /** Crashes during the recovery from a crash. */
  async #cutStartShort(state: CrashState, run: Run): Promise<void> {
    const disk = new RecordedDisk(state.files);
    await openOn(disk.life().disk, new ManualClock(timeAt(run, state.step)), this.#defect).catch(
      () => undefined,
    );
    for (const second of crashStates(state.files, disk.steps, {
      tornEveryBytes: 64,
      combined: 3,
    })) {
      const both = { ...second, step: state.step, what: state.what };
      if (this.isOver || !this.#isNew(both, run)) continue;
      this.report.inRecovery++;
      await this.#examine(
        both,
        run,
        `, and once more at step ${second.step} of the start, ${second.what}`,
      );
    }
  }
}

/** Crashes a store at every step. Returns the bad states. */
export async function searchCrashStates(
  search: CrashSearch,
  defect: Defect = {},
): Promise<CrashReport> {
  const all = new Search(search, defect);
  for (let life = 0; life < search.lives && !all.isOver; life++) {
    const scenarioSteps = search.scenarioSteps ?? allSteps(search.rounds ?? 1, life);
    await all.live(life === 0 ? scenarioSteps : shuffled(scenarioSteps, life));
  }
  return all.report;
}
