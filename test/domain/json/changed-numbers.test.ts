import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedNumbers, keepsValue } from '../../../src/domain/json/changed-numbers.ts';

describe('keepsValue', () => {
  it.each([
    '0',
    '-0',
    '0.10',
    '10.0',
    '1e5',
    '1E+22',
    '1.5e300',
    '9007199254740992',
    '-9007199254740992',
    '100000000000000000000',
    '0.10000000000000001',
    '0e400',
  ])('%s keeps its value', (written) => expect(keepsValue(written)).toBe(true));

  it.each([
    '9007199254740993',
    '12345678901234567890',
    '1e309',
    '-1e309',
    '1e-400',
    '0.12345678901234567890123',
  ])('%s is changed', (written) => expect(keepsValue(written)).toBe(false));

  it('holds for each double that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) =>
        keepsValue(JSON.stringify(value)),
      ),
    );
  });

  it('holds for whole numbers exactly if they are written again as they were', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 69n), max: 2n ** 69n }), (value) => {
        const text = String(value);
        expect(keepsValue(text)).toBe(String(Number(text)) === text);
      }),
    );
  });
});

it('changedNumbers names places, and no text', () => {
  const text = `[{"id":9007199254740993,"name":"12345678901234567890","a/b":[1e309,0.10]},
    {"x\\"1e999":1,"hash":"5e1234567890123456789"}]`;
  expect(changedNumbers(text)).toEqual([
    { path: [0, 'id'], written: '9007199254740993' },
    { path: [0, 'a/b', 0], written: '1e309' },
  ]);
  expect(changedNumbers('{"a":12345678901234567890,"a":1}')).toEqual([]);
  expect(changedNumbers('12345678901234567890')).toHaveLength(1);
});
