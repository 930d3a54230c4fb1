import { describe, expect, it } from 'vitest';
import { duration, optionalDuration } from '../../../src/cli/input/option.ts';
import { readTime, shownEpoch } from '../../../src/cli/input/time.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const reading = { source: '--since', nowMs, spans: 'ago' } as const;

describe('readTime', () => {
  it.each([
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T08:00Z', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20T08:00:00.5+02:00', '2026-11-20T06:00:00.500Z'],
    ['1760000000', '2025-10-09T08:53:20.000Z'],
    ['1760000000123', '2025-10-09T08:53:20.123Z'],
    ['90s', '2026-11-20T11:58:30.000Z'],
    ['2h', '2026-11-20T10:00:00.000Z'],
    ['1d', '2026-11-19T12:00:00.000Z'],
  ])('parses %s as %s', (text, iso) =>
    expect(new Date(readTime(text, reading)).toISOString()).toBe(iso),
  );

  it('adds a duration to the present for times ahead', () =>
    expect(readTime('1d', { ...reading, spans: 'ahead' })).toBe(nowMs + 86_400_000));

  it.each([
    '',
    'yesterday',
    '2026-13-01',
    '2026-02-30',
    '2027-02-29T08:00:00Z',
    '2026-11-20T08:00:00',
    '20261120',
    '0',
    '-5',
    '1.5h',
  ])('rejects %s', (text) => {
    expect(() => readTime(text, reading)).toThrowError(expect.objectContaining({ code: 'usage' }));
  });
});

it('a number without a unit is no span of time', () => {
  expect(() => readTime('12', reading)).toThrow('--since has no unit: "12". Do you mean 12h?');
  expect(() => duration('15m', '--for', '').read('12', '--for')).toThrow('Do you mean 12m?');
  expect(() => duration('15m', '--for', '', 'd').read('12', '--for')).toThrow('Do you mean 12d?');
  expect(() => optionalDuration('--wait', '').read('12', '--wait')).toThrow('Do you mean 12s?');
  expect(() => duration('1s', '--since', '').read('123456', '--since')).toThrow('must be a span');
  expect(duration('1s', '--since', '').read('0', '--since')).toBe(0);
});

describe('shownEpoch', () => {
  it.each([
    [1760000000, '2025-10-09T08:53:20.000Z'],
    [1760000000123, '2025-10-09T08:53:20.123Z'],
    [9e20, 9e20],
    [null, null],
    ['soon', 'soon'],
  ])('shows %s as %s', (time, shown) => expect(shownEpoch(time)).toBe(shown));
});
