import { expect, it } from 'vitest';
import { emptySequence, summaryOf, withNumbers } from '../../../src/domain/events/sequence.ts';

it('counts missing numbers exactly up to the largest safe integer', () => {
  const odd = Array.from({ length: 100 }, (_, n): [number, number] => [2 * n + 3, 2 * n + 3]);
  const state = withNumbers(emptySequence, [...odd, [2 ** 53 - 1, 2 ** 53 - 1]]);
  expect(summaryOf(state).missingEvents).toBe(2 ** 53 - 1 - 101);
});
