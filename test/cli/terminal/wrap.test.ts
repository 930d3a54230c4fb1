import { expect, it } from 'vitest';
import { pairs } from '../../../src/cli/terminal/wrap.ts';

it('aligns two columns, and escapes their texts', () =>
  expect(
    pairs([
      ['A', '1'],
      ['Long', '\u0007'],
    ]),
  ).toBe('A     1\nLong  \\u0007\n'));

it('wraps the second column at the width of a terminal', () =>
  expect(
    pairs(
      [
        ['A', 'one two three'],
        ['Long', 'four'],
      ],
      14,
    ),
  ).toBe('A     one two\n      three\nLong  four\n'));
