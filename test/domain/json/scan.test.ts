import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanJson } from '../../../src/domain/json/scan.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
    : 0;
/** Texts full of characters that could confuse a scanner. */
const tricky = fc.string({
  unit: fc.constantFrom(
    '"',
    '\\',
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    ' ',
    '\n',
    'a',
    'ä',
    '😀',
    '\ud800',
  ),
});
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium' },
    tricky,
    fc.integer(),
    fc.constantFrom(null, true),
    fc.array(tie('json'), { maxLength: 5 }),
    fc.dictionary(tricky, tie('json'), { maxKeys: 5, noNullPrototype: true }),
  ),
}));
const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 3 });

describe('scanJson', () => {
  it('returns the depth of nesting', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 1), (value, indent) => {
        expect(scanJson(Buffer.from(JSON.stringify(value, null, indent))).depth).toBe(
          depthOf(value),
        );
      }),
    );
  });

  it('returns the size of each element, whatever its content and white space', () => {
    const element = fc.tuple(space, json, fc.constantFrom(undefined, 2), space);
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 6 }), (elements) => {
        const texts = elements.map(([, value, indent]) => JSON.stringify(value, null, indent));
        const body = `[${elements.map(([before, , , after], at) => `${before}${texts[at]}${after}`).join(',')}]`;
        expect(scanJson(Buffer.from(body)).elements).toEqual(
          texts.map((text) => Buffer.byteLength(text)),
        );
      }),
    );
  });

  it('counts members as written, including duplicates', () => {
    expect(scanJson(Buffer.from('[{"a":1,"a":{"b:":":"}},{}]')).members).toBe(3);
  });

  it('terminates for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(scanJson(bytes).depth).toBeLessThanOrEqual(bytes.length);
      }),
    );
    for (const text of ['', '"', '"\\', '[', ']', ']]][[[', '{"a', ','])
      expect(() => scanJson(Buffer.from(text)), text).not.toThrow();
  });
});
