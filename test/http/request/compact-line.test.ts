import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanJson } from '../../../src/domain/json/scan.ts';
import { compactLine } from '../../../src/http/request/body.ts';

function lineOf(text: string, json: unknown = JSON.parse(text)): string {
  const bytes = Buffer.from(text);
  return Buffer.from(compactLine({ bytes, json, scan: scanJson(bytes) })).toString();
}

describe('compactLine', () => {
  it('keeps the bytes as sent: numbers, escapes and order', () => {
    const text = '[ {"timestamp":1.760e9, "type":"\\u0061", "big":12345678901234567890} ]';
    expect(lineOf(text)).toBe(text);
  });

  it('replaces line breaks by spaces', () => {
    expect(lineOf('[\r\n{"a":\n1}]')).toBe('[  {"a": 1}]');
  });

  it('serializes a body with duplicate members anew, as parsed', () => {
    expect(lineOf('[{"a":1,"a":2}]')).toBe('[{"a":2}]');
  });

  it('serializes a body with a dropped member anew', () => {
    expect(lineOf('[{"__proto__":{"x":1},"a":1}]', [{ a: 1 }])).toBe('[{"a":1}]');
  });

  it('means exactly what was parsed, and has no line break', () => {
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
