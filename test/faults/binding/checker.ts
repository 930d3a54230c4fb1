/**
 * An operation as a client saw it: it took effect, if at all, at some instant between its call and
 * its return.
 */
export interface Timed {
  called: number;
  returned: number;
}

/**
 * Whether these operations, one after another in some order that agrees with their times, can have
 * had the outcomes that they had (Wing and Gong's search, with
 * the memory of Lowe: "Testing for linearizability", 2017). `apply` gives every state that an
 * operation can lead to; none when its outcome cannot be in this
 * one. What is over a few dozen operations at a time, or many that overlap, takes long.
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
