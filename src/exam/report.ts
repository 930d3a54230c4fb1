import { setImmediate } from 'node:timers/promises';
import type { CertainFailure } from './certain-failure.ts';
import { allTvChecks } from './checks/all-checks.ts';
import {
  notApplicable,
  skip,
  type TvCheck,
  type TvCheckLevel,
  type TvCheckOutcome,
  type Verdict,
} from './checks/check.ts';
import { ExamView, type RecordedExam } from './checks/exam-view.ts';
import type { PartId } from './parts/part-ids.ts';

/** The result of an exam. */
export interface TvExamReport {
  checks: readonly TvCheckOutcome[];
  /** Summary in one line, for example for the README of a TV app. */
  summary: string;
  /**
   * Whether no check failed, the TV sent a request, the exam did not end early, and at most a tenth
   * of the applicable checks of the level `must` were skipped.
   */
  isPassed: boolean;
  /** Why the exam proves too little, whether or not a check failed. `undefined`: it does not. */
  shortcoming: string | undefined;
  /** Whether the exam was interrupted before its end. */
  isInterrupted: boolean;
  /** Number of requests of the TV. */
  requests: number;
  /** Number of requests from other TVs and programs. The checks ignore these requests. */
  strangers: number;
}

/** A finished or interrupted exam. */
export interface EndedExam extends RecordedExam {
  strangers: number;
  isInterrupted: boolean;
  /** The reason for which the exam ended before its last part. */
  endedBy?: CertainFailure | undefined;
  finished: readonly PartId[];
  /** The chosen parts. `undefined`: all. */
  parts?: readonly PartId[] | undefined;
}

function judge(check: TvCheck, view: ExamView, exam: EndedExam): Verdict {
  const { finished, endedBy, parts } = exam;
  const { part } = check;
  if (part !== undefined && part !== 'register' && parts && !parts.includes(part))
    return notApplicable(`The part "${part}" was not chosen.`);
  if (check.needsFullExam && view.isQuick) return notApplicable('Only the full exam checks this.');
  if (part === undefined) {
    const verdict = check.judge(view);
    // Parts that were not chosen may show it.
    return parts && verdict.result === 'skip' ? notApplicable(verdict.seen) : verdict;
  }
  if (finished.includes(part) || part === endedBy?.part) return check.judge(view);
  const reason = endedBy ? `: the exam ended, because the TV ${endedBy.text}` : '';
  return skip(`The part "${part}" did not run to its end${reason}.`);
}

/** Judges each check. Skips the rest when the signal aborts. */
async function judgeAll(exam: EndedExam, signal?: AbortSignal): Promise<TvCheckOutcome[]> {
  const view = new ExamView(exam);
  const outcomes: TvCheckOutcome[] = [];
  for (const check of allTvChecks) {
    // Lets the process handle signals between two checks.
    await setImmediate();
    const verdict = signal?.aborted
      ? skip('The judging was interrupted.')
      : judge(check, view, exam);
    const { id, level, section, title, expected, advice } = check;
    outcomes.push({ id, level, section, title, expected, applies: true, ...verdict, advice });
  }
  return outcomes;
}

function countText(checks: readonly TvCheckOutcome[], level: TvCheckLevel): string {
  const judged = checks.filter((one) => one.level === level && one.result !== 'skip');
  const passed = judged.filter(({ result }) => result === 'pass');
  return `${passed.length} of ${judged.length} ${level}`;
}

/** Returns why the exam proves too little, if more than a tenth of the `must` were not judged. */
function shortcomingOf(
  checks: readonly TvCheckOutcome[],
  { exchanges, endedBy }: EndedExam,
): string | undefined {
  if (exchanges.length === 0) return 'No TV registered.';
  if (endedBy) return `The exam ended early, because the TV ${endedBy.text}.`;
  const musts = checks.filter(({ level, applies }) => level === 'must' && applies);
  const unjudged = musts.filter(({ result }) => result === 'skip');
  return unjudged.length * 10 > musts.length
    ? `${unjudged.length} of ${musts.length} rows of the level must were not judged, so the exam is not passed.`
    : undefined;
}

/** Judges a recorded exam. */
export async function makeReport(exam: EndedExam, signal?: AbortSignal): Promise<TvExamReport> {
  const checks = await judgeAll(exam, signal);
  const skipped = checks.filter(({ result }) => result === 'skip').length;
  const kind = exam.isQuick ? ' (quick)' : '';
  const counts = `${countText(checks, 'must')}, ${countText(checks, 'should')}`;
  const shortcoming = shortcomingOf(checks, exam);
  return {
    checks,
    summary: `signage TV exam${kind}: ${counts}, ${skipped} not judged`,
    isPassed: checks.every(({ result }) => result !== 'fail') && shortcoming === undefined,
    shortcoming,
    isInterrupted: exam.isInterrupted || signal?.aborted === true,
    requests: exam.exchanges.length,
    strangers: exam.strangers,
  };
}
