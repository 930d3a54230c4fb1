import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  codeFinishedAt,
  codeStatusAt,
  hashCode,
  makeCode,
  pairingCodeText,
} from '../../../src/domain/records/pairing-code.ts';
import { codeAlphabet, isSeparator } from '../../../src/domain/typed-code.ts';

it('takes every dash and space of Unicode for a separator, and nothing else', () => {
  const characters = Array.from({ length: 0xd800 }, (_, at) => String.fromCharCode(at));
  const wrong = characters.filter((one) => isSeparator(one) !== /^[\s\p{Pd}._]$/u.test(one));
  expect(wrong).toEqual([]);
});

describe('makeCode', () => {
  it('uses 31 characters, without easily confused ones', () => {
    expect(codeAlphabet).toBe('ABCDEFGHJKMNPQRSTUVWXYZ23456789');
    expect(codeAlphabet).toHaveLength(31);
    expect(codeAlphabet).not.toMatch(/[0O1IL]/);
  });

  it('returns 8 of them for any random bytes, in a form that registration accepts', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.integer({ min: 0, max: 255 })), (bytes) => {
        // A usable byte comes sooner or later.
        let count = 0;
        const code = makeCode((length) =>
          Uint8Array.from({ length }, () =>
            ++count % 16 === 0 ? 7 : (bytes.next().value as number),
          ),
        );
        expect(code).toMatch(new RegExp(`^[${codeAlphabet}]{8}$`));
        expect(pairingCodeText.safeParse(code).success).toBe(true);
      }),
    );
  });

  it('discards the bytes that would bias the distribution', () => {
    const given = [
      Uint8Array.from([248, 249, 250, 251, 252, 253, 254, 255]),
      Uint8Array.from([0, 255, 30, 31, 247, 1, 255, 2]),
      new Uint8Array(8),
    ];
    expect(makeCode(() => given.shift()!)).toBe('A9A9BCAA');
  });

  it('distributes characters uniformly', () => {
    const counts = new Map<string, number>();
    for (let n = 0; n < 5000; n++)
      for (const letter of makeCode(randomBytes)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(31);
    // 40,000 letters, 1,290 of each: 5.6 standard deviations are 200.
    for (const [letter, count] of counts)
      expect(Math.abs(count - 40_000 / 31), letter).toBeLessThan(200);
  });
});

describe('hashCode', () => {
  it('differs for each code and each server', () => {
    const one = randomBytes(32);
    const two = randomBytes(32);
    expect(hashCode(one, 'ABCD2345')).toMatch(/^[0-9a-f]{64}$/);
    expect(hashCode(one, 'ABCD2345')).toBe(hashCode(one, 'ABCD2345'));
    expect(
      new Set([hashCode(one, 'ABCD2345'), hashCode(one, 'ABCD2346'), hashCode(two, 'ABCD2345')])
        .size,
    ).toBe(3);
  });
});

describe('the status of a code', () => {
  const pending = {
    state: 'pending' as const,
    createdAt: 0,
    expiresAt: 1000,
    usedAt: null,
    cancelledAt: null,
  };

  it('is expired if a clock made it that ran more than a minute fast', () => {
    const later = { ...pending, createdAt: 100_000, expiresAt: 200_000 };
    expect(codeStatusAt(later, 40_000)).toBe('pending');
    expect(codeStatusAt(later, 39_999)).toBe('expired');
  });

  it('is expired from expiresAt on, unless it was finished before', () => {
    expect(codeStatusAt(pending, 999)).toBe('pending');
    expect(codeStatusAt(pending, 1000)).toBe('expired');
    for (const state of ['used', 'cancelled'] as const) {
      expect(codeStatusAt({ ...pending, state }, 999)).toBe(state);
      expect(codeStatusAt({ ...pending, state }, 2000)).toBe(state);
    }
  });

  it('is finished when it was used, cancelled or expired', () => {
    expect(codeFinishedAt(pending)).toBe(1000);
    expect(codeFinishedAt({ ...pending, state: 'used', usedAt: 5 })).toBe(5);
    expect(codeFinishedAt({ ...pending, state: 'cancelled', cancelledAt: 7 })).toBe(7);
  });
});
