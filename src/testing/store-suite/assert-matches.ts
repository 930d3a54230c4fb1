import assert from 'node:assert/strict';

/** Returns the members of `actual` that `expected` also has. */
function pick(actual: unknown, expected: unknown): unknown {
  if (typeof expected !== 'object' || expected === null) return actual;
  if (typeof actual !== 'object' || actual === null) return actual;
  if (Array.isArray(expected))
    return Array.isArray(actual) ? actual.map((one, at) => pick(one, expected[at])) : actual;
  const members = Object.entries(expected).map(([name, one]) => [
    name,
    pick((actual as Record<string, unknown>)[name], one),
  ]);
  return Object.fromEntries(members);
}

/** Asserts that a value has at least the members of `expected`, at any depth. */
export function assertMatches(actual: unknown, expected: unknown): void {
  assert.deepEqual(pick(actual, expected), expected);
}
