import { hasCode } from '../../../src/domain/error.ts';
import { checkFolder } from '../../../src/store/json/check/check-folder.ts';
import { linesOf, swapped } from '../../store/json/damages.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { type Defect, directory, openOn } from '../crashes/checker.ts';
import { compare } from '../crashes/compare.ts';
import { contentsOf } from '../crashes/contents.ts';
import { type Run, timeAt, unsure } from '../crashes/model.ts';
import { diskOf, type Files, RecordedDisk } from '../crashes/recorded-disk.ts';
import { CrashScenario } from '../crashes/scenario.ts';
import { allSteps, type Step } from '../crashes/steps.ts';

export interface DamageSearch {
  /** Whether the store was stopped or killed. */
  clean: boolean;
  scenarioSteps?: readonly Step[];
  /** Damages every nth byte, truncates each file there, and swaps the lines there. */
  everyBytes?: number;
  untilBad?: boolean;
}

export interface DamageReport {
  files: number;
  damages: number;
  /** The start is refused with the name of the file. */
  refused: number;
  /** The store starts. Reading the damaged data fails with an error. */
  refusedOnReading: number;
  /** The store starts and shows other data. `data check` names the file. */
  found: number;
  /** The store shows the same data. */
  harmless: number;
  /**
   * After a crash only: the last record of a log is damaged or missing, as after an earlier crash.
   */
  earlier: number;
  bad: string[];
}

interface Damage {
  path: string;
  what: string;
  /** `undefined` for a missing file. */
  bytes?: Buffer;
  /** The first damaged byte. */
  at: number;
}

function* damagesOf(path: string, bytes: Buffer, everyBytes: number): Generator<Damage> {
  yield { path, what: 'gone', at: 0 };
  for (let at = 0; at < bytes.length; at += everyBytes) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
    yield { path, what: `bit ${at % 8} of byte ${at} turned over`, bytes: flipped, at };
    yield { path, what: `cut short after ${at} bytes`, bytes: bytes.subarray(0, at), at };
  }
  const lines = linesOf(bytes);
  const everyLines = Math.ceil((everyBytes * lines.length) / bytes.length);
  let at = 0;
  for (const [index, line] of lines.slice(0, -1).entries()) {
    if (index % everyLines === 0) yield { path, at, ...swapped(lines, index) };
    at += line.length;
  }
}

/** If the last file of a log is missing, the message names the one before. */
function names(message: string, path: string): boolean {
  const [, folder = '', file = path] =
    /^(?:(.*\/(?:journal|events|audit)\/)|.*\/)([^/]+)$/.exec(path) ?? [];
  return (
    message.includes(file) ||
    (folder !== '' && message.includes(folder) && message.includes('is missing'))
  );
}

type Outcome = 'refused' | 'refusedOnReading' | 'found' | 'harmless' | 'earlier' | string[];

class DamageJudge {
  readonly #files: Files;
  readonly #run: Run;
  readonly #step: number;
  readonly #defect: Defect;

  constructor(files: Files, run: Run, step: number, defect: Defect) {
    [this.#files, this.#run, this.#step, this.#defect] = [files, run, step, defect];
  }

  async judge({ path, bytes, at }: Damage, clean: boolean): Promise<Outcome> {
    const damaged = new Map(this.#files);
    if (bytes) damaged.set(path, bytes);
    else damaged.delete(path);
    const shown = await this.#show(damaged, path, clean ? this.#run : unsure(this.#run));
    if (!Array.isArray(shown)) return shown;
    if (await this.#isFound(damaged, path)) return 'found';
    return shown.length === 0 && bytes && this.#mayBeTorn(path, at)
      ? 'earlier'
      : [...shown, 'nobody is told'];
  }

  /** Returns the outcome of a start, or an empty list for contents as after an earlier crash. */
  async #show(files: Files, path: string, run: Run): Promise<Outcome> {
    let stage: Outcome = 'refused';
    try {
      const store = await openOn(diskOf(files), this.#clock, this.#defect);
      stage = 'refusedOnReading';
      const { contents, wrong } = await contentsOf(store);
      const exact = [...wrong, ...compare(contents, this.#run, this.#step, true).wrong];
      return exact.length === 0
        ? 'harmless'
        : [...wrong, ...compare(contents, run, this.#step).wrong].concat(
            run === this.#run ? exact : [],
          );
    } catch (error) {
      if (hasCode(error, 'store_damaged') && names(error.message, path)) return stage;
      return [`it is answered ${(error as Error).stack}`];
    }
  }

  get #clock(): ManualClock {
    return new ManualClock(timeAt(this.#run, this.#step));
  }

  async #isFound(files: Files, path: string): Promise<boolean> {
    const disk = this.#defect.disk?.(diskOf(files)) ?? diskOf(files);
    const findings = await checkFolder({
      disk,
      directory,
      clock: this.#clock,
      lowWaterBytes: 1000,
      warn: () => {},
    });
    return findings.some(
      ({ level, file }) => level === 'damage' && path === `${directory}/${file}`,
    );
  }

  /**
   * Returns whether this may be a torn record: it is in the last file of a log, beyond the
   * manifest.
   */
  #mayBeTorn(path: string, at: number): boolean {
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    const last = [...this.#files.keys()]
      .filter((one) => one.startsWith(folder) && /\.(log|ndjson)$/.test(one))
      .sort()
      .at(-1);
    const bytes = this.#files.get(path) ?? Buffer.alloc(0);
    const manifest = JSON.parse((this.#files.get(`${directory}/manifest.json`) ?? '{}').toString());
    const mark = manifest.marks?.[folder.split('/').at(-2) ?? ''] as
      | { file: string | null; size: number }
      | undefined;
    const from = mark && `${folder}${mark.file}` === path ? mark.size : 0;
    return path === last && at >= from && bytes.length > from;
  }
}

/** Damages each file of a store in every place. Each damage must be reported or harmless. */
export async function damageEverywhere(
  search: DamageSearch,
  defect: Defect = {},
): Promise<DamageReport> {
  const { clean, scenarioSteps = allSteps(2), everyBytes = 1, untilBad = false } = search;
  const recorded = new RecordedDisk();
  const life = new CrashScenario(recorded);
  const run = await life.live(scenarioSteps);
  if (clean) await life.end();
  const files = recorded.now.files();
  const judge = new DamageJudge(files, run, recorded.steps.length, defect);
  const report: DamageReport = {
    files: files.size,
    damages: 0,
    refused: 0,
    refusedOnReading: 0,
    found: 0,
    harmless: 0,
    earlier: 0,
    bad: [...run.wrong],
  };
  for (const [path, bytes] of files) {
    for (const damage of damagesOf(path, bytes, everyBytes)) {
      if (untilBad && report.bad.length > 0) return report;
      const outcome = await judge.judge(damage, clean);
      report.damages++;
      if (Array.isArray(outcome)) report.bad.push(`${path} ${damage.what}: ${outcome.join('; ')}`);
      else report[outcome as keyof Omit<DamageReport, 'bad'>]++;
    }
  }
  return report;
}
