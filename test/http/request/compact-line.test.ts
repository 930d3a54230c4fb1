import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanJson } from '../../../src/domain/json/scan.ts';
import { compactLine } from '../../../src/http/request/compact-line.ts';

function lineOf(text: string, json: unknown = JSON.parse(text)): string {
  const bytes = Buffer.from(text);
  return Buffer.from(compactLine({ bytes, json, scan: scanJson(bytes) })).toString();
}

describe('oneLine', () => {
  it('keeps the bytes that were sent: numbers, escapes and order as they were', () => {
    const text = '[ {"timestamp":1.760e9, "type":"\\u0061", "big":12345678901234567890} ]';
    expect(lineOf(text)).toBe(text);
  });

  it('makes line breaks spaces', () => {
    expect(lineOf('[\r\n{"a":\n1}]')).toBe('[  {"a": 1}]');
  });

  it('writes a body with duplicate members anew, as it was understood', () => {
    expect(lineOf('[{"a":1,"a":2}]')).toBe('[{"a":2}]');
  });

  it('writes a body anew from which a member was dropped', () => {
    expect(lineOf('[{"__proto__":{"x":1},"a":1}]', [{ a: 1 }])).toBe('[{"a":1}]');
  });

  it('says just what was parsed, and has no line break', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 2), (text, indent) => {
        const value = JSON.parse(text);
        const line = lineOf(JSON.stringify(value, null, indent), value);
        expect(line).not.toMatch(/[\r\n]/);
        expect(JSON.parse(line)).toEqual(value);
      }),
    );
  });
});
