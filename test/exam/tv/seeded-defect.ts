import type { Habits } from './habits.ts';

/** A TV with one realistic bug. */
export interface SeededDefect {
  /** The decisions that differ from those of a correct TV. */
  habits: Partial<Habits>;
  /** The ids of the checks that must fail, and no others. */
  fails: readonly string[];
  /** Whether the quick exam is too short for it. */
  needsFullExam?: true;
}
