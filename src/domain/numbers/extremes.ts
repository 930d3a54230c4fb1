/**
 * Returns the largest number, and at least `least`. A call with one argument for each number, such
 * as `Math.max(...numbers)`, throws a `RangeError` for about 120,000 of them.
 */
export function largest(numbers: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let found = least;
  for (const number of numbers) found = Math.max(found, number);
  return found;
}

/** Returns the smallest number, and at most `most`. */
export function smallest(numbers: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let found = most;
  for (const number of numbers) found = Math.min(found, number);
  return found;
}
