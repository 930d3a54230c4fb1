import type { TvStyle } from '../examined-tv.ts';
import type { Link } from './link.ts';

/** A TV with one realistic bug. */
export interface SeededDefect {
  /** The bug, if it is in what the TV sends, or in how it takes an answer. */
  link?: Link;
  /** The bug, if it is in another part of the TV. */
  style?: Omit<TvStyle, 'link'>;
  /** What the TV uses besides the bare minimum of the protocol. */
  uses?: 'changes' | 'numbers';
  /** The ids of the checks that must fail, and no others. */
  fails: readonly string[];
  /** Whether the quick exam is too short for it. */
  needsFullExam?: true;
}

/** Defects by name. The checks that they fail are in `test/fixtures/expected-failures/tv.json`. */
export type Defects = Readonly<Record<string, Omit<SeededDefect, 'fails'>>>;
