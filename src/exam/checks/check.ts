import type { PartId } from '../part-ids.ts';
import type { ExamView } from './exam-view.ts';

/** `must`: the TV breaks the protocol otherwise. `should`: the protocol recommends it. */
export type TvCheckLevel = 'must' | 'should';

/** The judgement of one check. */
export interface TvCheckOutcome {
  /** Stable id, such as `tv.events.same-bytes-same-key`. */
  id: string;
  level: TvCheckLevel;
  /** Section of docs/protocol.md. */
  section: string;
  title: string;
  expected: string;
  result: 'pass' | 'fail' | 'skip';
  /** What the TV did. For a skipped check, the reason. */
  seen: string;
  /** What to do if the check fails. */
  advice: string;
}

export interface Verdict {
  result: TvCheckOutcome['result'];
  seen: string;
}

/** One demand on a TV. It is judged from the recorded exchanges alone. */
export interface TvCheck
  extends Pick<TvCheckOutcome, 'id' | 'level' | 'section' | 'title' | 'expected' | 'advice'> {
  /** The part that must be over. Default: any request of the TV is enough. */
  part?: PartId;
  judge(view: ExamView): Verdict;
}

export const pass = (seen: string): Verdict => ({ result: 'pass', seen });
export const fail = (seen: string): Verdict => ({ result: 'fail', seen });
/** The TV never did what the check is about. */
export const skip = (reason: string): Verdict => ({ result: 'skip', seen: reason });
