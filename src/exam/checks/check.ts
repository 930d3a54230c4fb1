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
  /** Observed behaviour of the TV. For a skipped check, the reason. */
  seen: string;
  /** Advice for the developer of the TV app if the check fails. */
  advice: string;
}

export interface Verdict {
  result: TvCheckOutcome['result'];
  seen: string;
}

/** One requirement on a TV. It is judged from the recorded exchanges alone. */
export interface TvCheck
  extends Pick<TvCheckOutcome, 'id' | 'level' | 'section' | 'title' | 'expected' | 'advice'> {
  /** Part of the exam that must have ended before the check is judged. Default: always judged. */
  part?: PartId;
  judge(view: ExamView): Verdict;
}

export const pass = (seen: string): Verdict => ({ result: 'pass', seen });
export const fail = (seen: string): Verdict => ({ result: 'fail', seen });
/** Skips the check, for example because the TV never used the feature under test. */
export const skip = (reason: string): Verdict => ({ result: 'skip', seen: reason });
