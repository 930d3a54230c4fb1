import type { PartId } from '../parts/part-ids.ts';
import type { ExamView } from './exam-view.ts';

/**
 * `must`: a TV that fails the check breaks the protocol. `should`: the protocol only recommends the
 * behaviour.
 */
export type TvCheckLevel = 'must' | 'should';

/** The result of one check. */
export interface TvCheckOutcome {
  /** Stable id, such as `tv.events.same-bytes-same-key`. */
  id: string;
  level: TvCheckLevel;
  /** Section of docs/protocol.md. */
  section: string;
  title: string;
  expected: string;
  result: 'pass' | 'fail' | 'skip';
  /**
   * Whether the check applies to this TV and this exam. A skipped check that applies shows that the
   * exam is incomplete.
   */
  applies: boolean;
  /** Observed behaviour of the TV. For a skipped check, the reason. */
  seen: string;
  /** Advice for the developer of the TV app if the check fails. */
  advice: string;
}

export interface Verdict extends Pick<TvCheckOutcome, 'result' | 'seen'> {
  /** Default: true. */
  applies?: false;
}

/** One requirement on a TV. It is judged from the recorded exchanges alone. */
export interface TvCheck
  extends Pick<TvCheckOutcome, 'id' | 'level' | 'section' | 'title' | 'expected' | 'advice'> {
  /** Part of the exam that must have ended before the check is judged. Default: always judged. */
  part?: PartId;
  /** Whether only the full exam has the situation that the check judges. */
  needsFullExam?: true;
  judge(view: ExamView): Verdict;
}

export const pass = (seen: string): Verdict => ({ result: 'pass', seen });
export const fail = (seen: string): Verdict => ({ result: 'fail', seen });
/** Skips the check, because the exam did not observe what the check judges. */
export const skip = (reason: string): Verdict => ({ result: 'skip', seen: reason });
/** Skips the check, because it does not concern this TV or this exam. */
export const notApplicable = (reason: string): Verdict => ({ ...skip(reason), applies: false });

/** Skips a check, because a fault hit no request. Says whether the exam or the TV is the reason. */
export const notMet = (view: ExamView, fault: string, what: string): Verdict =>
  view.markedMs(`fault ${fault}`) === undefined
    ? skip('The exam did not come to this, because the TV did not come to an earlier step.')
    : skip(`The TV sent no ${what} at that time.`);
