import type { CertainFailure } from './certain-failure.ts';
import { allTvChecks } from './checks/all-checks.ts';
import { skip, type TvCheck, type TvCheckLevel, type TvCheckOutcome } from './checks/check.ts';
import { ExamView, type RecordedExam } from './checks/exam-view.ts';
import type { PartId } from './parts/part-ids.ts';

/** The result of an exam. */
export interface TvExamReport {
  checks: readonly TvCheckOutcome[];
  /** Summary in one line, for example for the README of a TV app. */
  summary: string;
  /** Whether no check failed, the TV sent a request, and the exam did not end early. */
  isPassed: boolean;
  /** Whether the exam was interrupted before its end. */
  isInterrupted: boolean;
  /** Number of requests of the TV. */
  requests: number;
  /** Number of requests from other TVs and programs. The checks ignore these requests. */
  strangers: number;
}

function judge(
  check: TvCheck,
  view: ExamView,
  { finished, endedBy }: { finished: readonly PartId[]; endedBy: CertainFailure | undefined },
): TvCheckOutcome {
  const { id, level, section, title, expected, advice, part } = check;
  const isJudged = part === undefined || finished.includes(part) || part === endedBy?.part;
  const reason = endedBy ? `: the exam ended, because the TV ${endedBy.text}` : '';
  const verdict = isJudged
    ? check.judge(view)
    : skip(`The part "${part}" did not run to its end${reason}.`);
  return { id, level, section, title, expected, ...verdict, advice };
}

function countText(checks: readonly TvCheckOutcome[], level: TvCheckLevel): string {
  const judged = checks.filter((one) => one.level === level && one.result !== 'skip');
  const passed = judged.filter(({ result }) => result === 'pass');
  return `${passed.length} of ${judged.length} ${level}`;
}

/** Judges a recorded exam. */
export function makeReport(
  exam: RecordedExam & {
    strangers: number;
    isInterrupted: boolean;
    /** The mistake that ended the exam before its last part. */
    endedBy?: CertainFailure | undefined;
  },
  finished: readonly PartId[],
): TvExamReport {
  const view = new ExamView(exam);
  const checks = allTvChecks.map((check) =>
    judge(check, view, { finished, endedBy: exam.endedBy }),
  );
  const skipped = checks.filter(({ result }) => result === 'skip').length;
  const kind = exam.isQuick ? ' (quick)' : '';
  const counts = `${countText(checks, 'must')}, ${countText(checks, 'should')}`;
  return {
    checks,
    summary: `signage TV exam${kind}: ${counts}, ${skipped} not judged`,
    isPassed:
      checks.every(({ result }) => result !== 'fail') &&
      exam.exchanges.length > 0 &&
      exam.endedBy === undefined,
    isInterrupted: exam.isInterrupted,
    requests: exam.exchanges.length,
    strangers: exam.strangers,
  };
}
