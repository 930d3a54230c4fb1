import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../src/domain/duration.ts';

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
