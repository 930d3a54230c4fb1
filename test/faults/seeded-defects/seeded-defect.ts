/**
 * A defect put on purpose around the parts that the real thing is made of, and the harness that
 * must see it.
 */
export interface SeededDefect {
  /** What is wrong, in a few words: "no fsync". */
  defect: string;
  /** The harness that must turn red, as its file is named: "crash-states". */
  harness: string;
  /**
   * Runs the harness over the bugged part: what it finds, a line each. Nothing found means that the
   * harness is blind to the defect.
   */
  find(): Promise<readonly string[]>;
  /** The same harness, of the same size, over the sound part: must find nothing. */
  findInOriginal(): Promise<readonly string[]>;
}
