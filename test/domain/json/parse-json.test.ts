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

  it.each<[string, string | Uint8Array]>([
    ['nothing', ''],
    ['white space', ' \n'],
    ['a list that is cut off', '[{"a":1}'],
    ['a comma too many', '[{"a":1},]'],
    ['NaN', '[{"a":NaN}]'],
    ['single quotes', "{'a':1}"],
    ['a comment', '[/* x */]'],
    ['something behind it', '[{"a":1}] x'],
    ['a raw line break in a text', '[{"a":"\n"}]'],
    ['lines of JSON', '{"a":1}\n{"a":1}'],
    ['a byte order mark', '\ufeff[{"a":1}]'],
    ['a byte that is not UTF-8', Uint8Array.of(0x22, 0xe4, 0x22)],
    ['an overlong form', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22)],
    ['an encoded surrogate', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ['UTF-16', Buffer.from('[{"a":1}]', 'utf16le')],
    ['65 levels', '['.repeat(65) + ']'.repeat(65)],
    ['half a million brackets', '['.repeat(500_000)],
  ])('rejects %s', (_, text) => {
    expect(() => parseJson(Buffer.from(text))).toThrow(
      expect.objectContaining({ code: 'invalid_json' }),
    );
  });

  it.each([
    ['64 levels', '['.repeat(64) + ']'.repeat(64)],
    ['65 brackets in a text', `["${'['.repeat(65)}"]`],
    ['any line breaks between tokens', '\r\n[\n{"a"\r:"x",\n"b":1}\r\n]\n'],
    ['the last of duplicate members', '[{"a":"BAD","b":1,"b":2,"a":"x"}]'],
  ])('accepts %s', (_, text) => expect(parse(text).json).toEqual(JSON.parse(text)));
});
