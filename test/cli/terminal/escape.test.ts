import { expect, it } from 'vitest';
import {
  escapeControl,
  escapeLines,
  ownSequence,
  printableJson,
} from '../../../src/cli/terminal/escape.ts';

it.each([
  ['\u001b[2J', '\\u001b[2J'],
  ['a\r\nb\tc', 'a\\u000d\\u000ab\\u0009c'],
  ['\u009b31m', '\\u009b31m'],
  ['invoice\u202egnp.exe', 'invoice\\u202egnp.exe'],
  ['\u2066x\u2069\u200f', '\\u2066x\\u2069\\u200f'],
  ['a\u2028b', 'a\\u2028b'],
  ['Lob\u200bby\u00ad\u2060\u206f', 'Lob\\u200bby\\u00ad\\u2060\\u206f'],
  ['می\u200cخواهم', 'می\u200cخواهم'],
  ['Café 東京 👩‍👧 مرحبا', 'Café 東京 👩‍👧 مرحبا'],
])('shows %j as %j', (text, shown) => expect(escapeControl(text)).toBe(shown));

it('printableJson stays valid JSON', () => {
  const value = { a: 'x\u202e\u001b[0m"', list: [1, { b: '\u009b' }] };
  const text = printableJson(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).not.toMatch(/[\u202e\u009b]/);
  expect(text.split('\n').length).toBeGreaterThan(4);
});

it('escapeLines keeps line breaks, tabs and sequences of this program, and no others', () => {
  const red = ownSequence('\u001b[31m');
  expect(escapeLines(`a\tb\r\n${red}c\u001b[31md\n`)).toBe('a\tb\r\n\u001b[31mc\\u001b[31md\n');
  expect(escapeLines('over\rwritten\u0007\ufeff')).toBe('over\\u000dwritten\\u0007\\ufeff');
});
