import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../src/domain/duration.ts';
import { malformedRule, parseShare, randomFraction } from '../../src/faults/rule-text.ts';

describe('a share', () => {
  it.each([
    ['10%', 0.1],
    ['0.5%', 0.005],
    ['100%', 1],
    ['0%', undefined],
    ['100.1%', undefined],
    ['10', undefined],
    ['-1%', undefined],
    ['1e1%', undefined],
    ['%', undefined],
  ])('%j is %s', (text, share) => expect(parseShare(text)).toBe(share));
});

describe('a duration', () => {
  it.each([
    ['250ms', 250],
    ['90', 90_000],
    ['90s', 90_000],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['1.5s', undefined],
    ['-1s', undefined],
    ['1 s', undefined],
    ['1w', undefined],
    ['', undefined],
  ])('%j is %s ms', (text, spanMs) => expect(parseDuration(text)).toBe(spanMs));
});

describe('fraction', () => {
  it('returns a number from 0 to below 1 that depends on all its random bytes', () => {
    expect(randomFraction(() => Uint8Array.of(0, 0, 0, 0))).toBe(0);
    expect(randomFraction(() => Uint8Array.of(0, 0, 0, 1))).toBe(1 / 2 ** 32);
    expect(randomFraction(() => Uint8Array.of(128, 0, 0, 0))).toBe(0.5);
    expect(randomFraction(() => Uint8Array.of(255, 255, 255, 255))).toBeLessThan(1);
    expect(randomFraction(randomBytes)).not.toBe(randomFraction(randomBytes));
  });
});

describe('a rule that cannot be read', () => {
  it('is reported with the wrong part, its position, and the allowed values', () => {
    expect(malformedRule('a=b:c', { part: 'c', at: 4, allowed: 'there is 10%' })).toMatchObject({
      code: 'invalid_option',
      message: 'In the fault rule "a=b:c", "c" (character 5) is not understood: there is 10%.',
    });
    expect(malformedRule('a=', { part: '', at: 2, allowed: 'there is b' }).message).toBe(
      'In the fault rule "a=", something is missing at character 3: there is b.',
    );
  });
});
