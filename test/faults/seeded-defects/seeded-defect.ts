/** A deliberate defect, and the test that must detect it. */
export interface SeededDefect {
  /** Short description: "no fsync". */
  defect: string;
  /** File name of the test: "crash-states". */
  harness: string;
  /**
   * Runs the test with the defect and returns the violations. None means that the test cannot
   * detect it.
   */
  find(): Promise<readonly string[]>;
  /** Runs the same test without the defect. It must return nothing. */
  findInOriginal(): Promise<readonly string[]>;
}
