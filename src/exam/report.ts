import { allTvChecks } from './checks/all-checks.ts';
import { skip, type TvCheck, type TvCheckLevel, type TvCheckOutcome } from './checks/check.ts';
import { ExamView, type RecordedExam } from './checks/exam-view.ts';
import type { PartId } from './part-ids.ts';

/** The result of an exam. */
export interface TvExamReport {
  checks: readonly TvCheckOutcome[];
  /** Summary in one line, for example for the README of a TV app. */
  summary: string;
  /** Whether no check failed, and the TV sent at least one request. */
  isPassed: boolean;
  /** Whether the exam was interrupted before its end. */
  isInterrupted: boolean;
  /** Number of requests of the TV. */
  requests: number;
  /** Number of requests from other TVs and programs. The checks ignore these requests. */
  strangers: number;
}

function judge(check: TvCheck, view: ExamView, finished: readonly PartId[]): TvCheckOutcome {
  const { id, level, section, title, expected, advice, part } = check;
  const isJudged = part === undefined || finished.includes(part);
  const verdict = isJudged ? check.judge(view) : skip(`The part "${part}" did not run to its end.`);
  return { id, level, section, title, expected, ...verdict, advice };
}

function countText(checks: readonly TvCheckOutcome[], level: TvCheckLevel): string {
  const judged = checks.filter((one) => one.level === level && one.result !== 'skip');
  const passed = judged.filter(({ result }) => result === 'pass');
  return `${passed.length} of ${judged.length} ${level}`;
}

/** Judges a recorded exam. */
export function makeReport(
  exam: RecordedExam & { strangers: number; isInterrupted: boolean },
  finished: readonly PartId[],
): TvExamReport {
  const view = new ExamView(exam);
  const checks = allTvChecks.map((check) => judge(check, view, finished));
  const skipped = checks.filter(({ result }) => result === 'skip').length;
  const kind = exam.isQuick ? ' (quick)' : '';
  const counts = `${countText(checks, 'must')}, ${countText(checks, 'should')}`;
  return {
    checks,
    summary: `signage TV exam${kind}: ${counts}, ${skipped} not judged`,
    isPassed: checks.every(({ result }) => result !== 'fail') && exam.exchanges.length > 0,
    isInterrupted: exam.isInterrupted,
    requests: exam.exchanges.length,
    strangers: exam.strangers,
  };
}
