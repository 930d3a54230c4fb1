import type { TvExamOptions, TvPower } from '../../../src/exam/parts/options.ts';
import type { TvExamReport } from '../../../src/exam/report.ts';
import { runTvExam } from '../../../src/exam/run-exam.ts';
import { ExaminedTv, type TvStyle } from '../examined-tv.ts';
import { PageTv } from './page-tv.ts';
import type { SeededDefect } from './seeded-defect.ts';
import { styleOf } from './styles.ts';

/** How many times faster than real time the TVs live. */
const pace = 20;

interface Examinee extends TvPower {
  onCode(code: string, url: string): void;
}

/** Runs the quick exam for one TV. */
async function examine(tv: Examinee, options: Partial<TvExamOptions>): Promise<TvExamReport> {
  const common = { quick: true, pace, retryAfterSeconds: 2, pairingSeconds: 60 };
  const onCode = (code: string, url: string) => tv.onCode(code, url);
  try {
    return await runTvExam({ ...common, power: tv, onCode, ...options });
  } finally {
    await tv.off();
  }
}

/** Runs the quick exam for a TV of this style. */
export const examineStyle = (style: TvStyle, options: Partial<TvExamOptions> = {}) =>
  examine(new ExaminedTv(options.pace ?? pace, style), options);

/** Runs the exam for a TV with a defect: the quick one, unless the defect needs the full one. */
export const examineDefect = (defect: SeededDefect, options: Partial<TvExamOptions> = {}) =>
  examineStyle(styleOf(defect), { quick: !defect.needsFullExam, ...options });

/** Runs the quick exam for the TV of docs/tv.md. `folder` is an empty folder for its files. */
export const examinePageTv = (folder: string, options: Partial<TvExamOptions> = {}) =>
  examine(new PageTv(folder, options.pace ?? pace), options);

/** Returns the ids of the failed checks. */
export const failedIds = ({ checks }: Pick<TvExamReport, 'checks'>): string[] =>
  checks.filter(({ result }) => result === 'fail').map(({ id }) => id);
