/**
 * An operation with its call and return times. It took effect at some moment between them, or
 * never.
 */
export interface Timed {
  called: number;
  returned: number;
}

/**
 * Returns whether the operations are linearizable: some order that agrees with their times explains
 * all outcomes. Uses the search of Wing and Gong with the memoization of Lowe ("Testing for
 * linearizability", 2017). `apply` returns all states after an operation, or none if its outcome is
 * impossible in this state. The search is slow for more than a few dozen operations or many that
 * overlap.
 */
export function isLinearizable<O extends Timed, S>(
  operations: readonly O[],
  initial: S,
  apply: (operation: O, state: S) => readonly S[],
  nameOf: (state: S) => string,
): boolean {
  const tried = new Set<string>();

  function search(left: readonly O[], state: S): boolean {
    if (left.length === 0) return true;
    const place = `${left.map(({ called }) => called).join()}|${nameOf(state)}`;
    if (tried.has(place)) return false;
    tried.add(place);
    const firstReturn = Math.min(...left.map(({ returned }) => returned));
    return left
      .filter(({ called }) => called < firstReturn)
      .some((operation) =>
        apply(operation, state).some((next) =>
          search(
            left.filter((other) => other !== operation),
            next,
          ),
        ),
      );
  }

  return search(
    [...operations].sort((a, b) => a.called - b.called),
    initial,
  );
}
