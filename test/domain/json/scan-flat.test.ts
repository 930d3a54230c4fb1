import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanFlat, scanJson } from '../../../src/domain/json/scan.ts';

const told = (text: string) => scanFlat(JSON.parse(text), text);

/** Numbers in any notation, especially those with a shorter one. */
const numberText = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc
    .tuple(fc.integer({ min: -9999, max: 9999 }), fc.integer({ min: -25, max: 25 }))
    .map(([value, power]) => `${value}e${power}`),
  fc
    .tuple(fc.integer({ min: 0, max: 9999 }), fc.integer({ min: 0, max: 12 }))
    .map(([value, zeros]) => `${value}${'0'.repeat(value === 0 ? 0 : zeros)}`),
  fc.constantFrom(
    '-0',
    '0',
    '1.0',
    '1E3',
    '1e3',
    '1000',
    '176e7',
    '1760000000',
    '0.001',
    '1e-3',
    '1e400',
    '1e21',
    '123456789012345680000',
  ),
);
const plainText = fc.stringMatching(/^[ -!#-[\]-~]{0,12}$/).map((text) => JSON.stringify(text));
const valueText = fc.oneof(
  numberText,
  plainText,
  fc.constantFrom('true', 'false', 'null', '[]', '{}', '[1]', '{"a":1}'),
);
const name = fc.oneof(fc.constantFrom('"a"', '"b"', '"1"', '""'), plainText);
const space = fc.constantFrom('', '', '', '', '', '', ' ', '\n', '\t ');
const member = fc
  .tuple(space, name, space, space, valueText, space)
  .map(([a, key, b, c, value, d]) => `${a}${key}${b}:${c}${value}${d}`);
const element = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.array(member, { maxLength: 5 }).map((members) => `{${members.join(',')}}`),
  },
  { weight: 1, arbitrary: valueText },
);
const list = fc.array(element, { maxLength: 4 }).map((elements) => `[${elements.join(',')}]`);

describe('scanFlat', () => {
  it('returns the result of scanJson or undefined, and never calls JSON with duplicates or white space compact', () => {
    fc.assert(
      fc.property(list, (text) => {
        const flat = told(text);
        if (!flat) return;
        const { elements, members } = scanJson(Buffer.from(text));
        expect({ elements: flat.elements, members: flat.members }).toEqual({ elements, members });
        const written = (JSON.parse(text) as object[]).reduce(
          (sum, one) => sum + Object.keys(one).length,
          0,
        );
        expect(members).toBe(written);
        expect(/\s/.test(text.replaceAll(/"[^"]*"/g, ''))).toBe(false);
      }),
      { numRuns: 3000 },
    );
  });

  it('supports everything that JSON.stringify writes for flat ASCII objects', () => {
    const value = fc.oneof(
      fc.integer(),
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .filter((number) => !/e/.test(String(number))),
      fc.boolean(),
      fc.constant(null),
      fc.stringMatching(/^[ -!#-[\]-~]{0,12}$/).filter((text) => !/\de/i.test(text)),
    );
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.stringMatching(/^[a-z]{0,8}$/), value), {
          minLength: 1,
          maxLength: 5,
        }),
        (objects) => {
          expect(told(JSON.stringify(objects))).toMatchObject({ isCompact: true });
        },
      ),
    );
  });

  it.each([
    ['a member that came twice hides behind a short number', '[{"a":1,"b":1e9,"a":12}]'],
    ['white space hides behind a short number', '[{"a":176e7     }]'],
    ['another short number', '[{"a":  1E3}]'],
    ['a small number', '[{"a": 1e-5  }]'],
    ['an object in it', '[{"a":{}}]'],
    ['no list', '{"a":1}'],
    ['an empty list', '[]'],
    ['lists in it', '[[]]'],
    ['null in it', '[null]'],
  ])('returns undefined where %s', (_, text) => {
    expect(told(text)).toBeUndefined();
  });

  it.each([
    '[{"a":1760000000}]',
    '[{}]',
    '[{"a":0.001,"b":-1000}]',
    '[{"a":"1 e5"},{"b":true,"c":false,"d":null}]',
    '[{"a":" .e"},{"b":-0.000001}]',
  ])('supports %s', (text) => {
    expect(told(text)).toMatchObject({ isCompact: true });
  });
});
