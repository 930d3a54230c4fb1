type Violations = Promise<readonly string[]>;

/** Deliberate defects that one test must detect. */
export interface SeededDefects {
  /** File name of the test: "crash-states". */
  harness: string;
  /** Runs the test without a defect. It must return nothing. */
  findInOriginal(): Violations;
  /** Each runs the test with a defect. None may return nothing. */
  defects: { defect: string; find(): Violations }[];
}

/** Returns the defects by name, for a test that takes one of them and returns the violations. */
export function seeded<D>(
  harness: string,
  run: (defect?: D) => Violations,
  defects: Record<string, D>,
): SeededDefects {
  return {
    harness,
    findInOriginal: () => run(),
    defects: Object.entries(defects).map(([defect, one]) => ({ defect, find: () => run(one) })),
  };
}
