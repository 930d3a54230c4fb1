import { hash } from 'node:crypto';
import { ManualClock } from '../../support/manual-clock.ts';
import { checkState, type Defect, openOn } from './checker.ts';
import { type CrashState, crashStates } from './crash-states.ts';
import { type Run, timeAt } from './model.ts';
import { type Files, RecordedDisk } from './recorded-disk.ts';
import { CrashScenario } from './scenario.ts';
import { allSteps, type Step, shuffled } from './steps.ts';

export interface CrashSearch {
  /**
   * So many lives, each with its scenarioSteps in another order; the first one as they are written
   * down.
   */
  lives: number;
  /** Acts of each; about this many. */
  rounds?: number;
  /** Of a record that is being written, every so many bytes. */
  tornEveryBytes: number;
  /** Of the different states, each so many-th. */
  every?: number;
  /**
   * Of those, each so many-th is opened once more after another power cut; a state in which no
   * record is torn always is.
   */
  twiceEvery?: number;
  /** Of those, in each so many-th the start itself is cut short, at each of its steps. */
  recoveryEvery?: number;
  scenarioSteps?: readonly Step[];
  /** Only states after these, at the end of a life. */
  lastSteps?: number;
  /** Stop at the first state that is bad. */
  first?: boolean;
}

/** What a search came to. */
export interface CrashReport {
  lives: number;
  /** Changes that the lives made to the disk. */
  steps: number;
  /** Different states that were opened. */
  states: number;
  /** Among them those of a start that was cut short. */
  inRecovery: number;
  bad: string[];
}

const sums = new WeakMap<Buffer, string>();

function sumOf(bytes: Buffer): string {
  const known = sums.get(bytes) ?? hash('md5', bytes);
  sums.set(bytes, known);
  return known;
}

/** Tells states apart: by what is on the disk, and by what is owed. */
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

  /** A crash while a start mends what the crash before it has left. */
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

/** Lives through crashes at every step, and says which of the states that they leave are bad. */
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
