import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textSum } from '../../src/domain/text-sum.ts';

describe('textSum', () => {
  it('is the CRC-32 of the text as UTF-8, as the library has it', () => {
    expect(textSum('123456789')).toBe(0xcbf43926);
    fc.assert(fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (text) => textSum(text) === crc32(text)));
  });

  it('is that of a part', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'grapheme' }), fc.string(), (before, text, after) => {
        return textSum(before + text + after, before.length, before.length + text.length) === crc32(text);
      }),
    );
  });
});
