import { describe, expect, it, vi } from 'vitest';
import { parseJson } from '../../../src/domain/json/parse-json.ts';

const parse = (text: string, mostParts?: number) => parseJson(Buffer.from(text), mostParts);

describe('parseJson', () => {
  it.each([
    ['objects', '[{},{},{}]', 4],
    ['arrays', '[[],[[]]]', 4],
    ['members', '{"a":1,"b":2,"c":3}', 4],
    ['the same member again', '{"a":1,"a":2,"a":3}', 4],
    ['members of members', '{"a":{"b":{"c":0}}}', 6],
  ])('counts %s, and rejects one too many', (_, text, parts) => {
    expect(parse(text, parts).json).toEqual(JSON.parse(text));
    expect(() => parse(text, parts - 1)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        errors: [expect.objectContaining({ path: '' })],
      }),
    );
  });

  it('counts before it parses', () => {
    const made = vi.spyOn(JSON, 'parse');
    for (const text of [`[${'{},'.repeat(50_000)}{}]`, `{"a":[${'{},'.repeat(50_000)}{}]}`])
      expect(() => parse(text, 50_000)).toThrow('must have at most 50000');
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
  });

  it('does not count numbers, texts, or brackets in texts', () => {
    expect(parse('[1,2,"{[:,]}",null]', 1).json).toHaveLength(4);
  });

  it('drops members named __proto__ at any depth, however they are escaped, without a reviver', () => {
    const made = vi.spyOn(JSON, 'parse');
    const { json } = parse(
      '{"a":[{"__proto__":{"x":1},"b":{"\\u005f_proto__":2,"c":3}}],"__proto__":4}',
    );
    expect(JSON.stringify(json)).toBe('{"a":[{"b":{"c":3}}]}');
    expect(made.mock.calls.every(([, reviver]) => reviver === undefined)).toBe(true);
    made.mockRestore();
  });
});
