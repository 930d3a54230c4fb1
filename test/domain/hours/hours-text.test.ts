import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hoursText, parseHours, unreadHours } from '../../../src/domain/hours/hours-text.ts';
import { weekdays } from '../../../src/domain/hours/local-times.ts';

it.each([
  ['mon-fri 08:00-18:00', 'mon-fri 08:00-18:00'],
  ['  Sat+Sun 8:00 – 24:00 ', 'sat+sun 08:00-00:00'],
  ['fri-mon 20:00-02:00; tue+wed 8:00-9:00', 'mon+fri-sun 20:00-02:00, tue+wed 08:00-09:00'],
  ['mon+tue+wed+fri 08:00-18:00', 'mon-wed+fri 08:00-18:00'],
  ['Always', 'always'],
  ['24/7', 'always'],
  ['Mo-Fr 08:00-18:00; Sa 9:00-12:00', 'mon-fri 08:00-18:00, sat 09:00-12:00'],
  ['Monday – Friday 8:00 to 18:00', 'mon-fri 08:00-18:00'],
  ['mon,tue 8:00-12:00, mon,tue 13:00-18:00', 'mon+tue 08:00-12:00, mon+tue 13:00-18:00'],
  ['mon-fri 8:00-12:00, 13:00-18:00', 'mon-fri 08:00-12:00, mon-fri 13:00-18:00'],
  ['daily 8:00-18:00; sun off', 'mon-sat 08:00-18:00'],
  // As signage schedule check and preview write them.
  ['mon, tue 22:00–24:00', 'mon+tue 22:00-00:00'],
  ['Mon, tue: 00:00–06:00, 11:00–24:00', 'mon+tue 00:00-06:00, mon+tue 11:00-00:00'],
  ['every day 04:00–04:00', 'mon-sun 04:00-04:00'],
  ['Sun: all day', 'sun 00:00-00:00'],
  [
    'mon-fri 08:00-18:00; 2026-12-25 off; 2026-12-24 08:00-14:00',
    'mon-fri 08:00-18:00, 2026-12-25 off, 2026-12-24 08:00-14:00',
  ],
  ['always; 2026-12-24, 2026-12-31 off', 'always, 2026-12-24 off, 2026-12-31 off'],
  ['2026-12-24 to 2027-01-06 closed', '2026-12-24..2027-01-06 off'],
])('hours are read from %j, and written as %j', (text, written) => {
  const hours = parseHours(text);
  expect(hours && hoursText(hours)).toBe(written);
  expect(parseHours(written)).toEqual(hours);
});

it.each([
  '',
  'mon',
  'mon, tue',
  '08:00-18:00',
  'mon-fri-sun 08:00-18:00',
  'montag 08:00-18:00',
  'm 08:00-18:00',
  'mon 08:60-18:00',
  'mon 24:00-08:00',
  'mon 25:00-26:00',
  'mon 08:00-18:00,',
  'mon; tue 08:00-18:00',
  'mon off',
  'mon 08:00-18:00; mon off',
  'always, mon 08:00-18:00',
  '2026-02-30 off',
  '2026-12-26..2026-12-24 off',
  'mon, 2026-12-24 off',
])('there are no hours in %j', (text) => {
  expect(parseHours(text)).toBeUndefined();
});

it('all hours are read again from their text', () => {
  const time = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
  const date = fc.integer({ min: 20_000, max: 40_000 }).map((day) => {
    return new Date(day * 86_400_000).toISOString().slice(0, 10);
  });
  const times = fc.record({ from: time, to: time });
  const dates = fc.tuple(date, date).map(([one, other]) => {
    const [from = '', until = ''] = [one, other].sort();
    return { from, until };
  });
  const days = fc.subarray([...weekdays], { minLength: 1 });
  const weekly = fc.tuple(days, times).map(([named, both]) => ({ days: named, ...both }));
  const exception = fc
    .tuple(dates, fc.option(times))
    .map(([named, both]) => ({ dates: named, ...both }));
  const record = fc.record({
    hours: fc.option(fc.array(weekly)),
    hoursExceptions: fc.option(fc.array(exception, { minLength: 1 })),
  });
  fc.assert(
    fc.property(record, (given) => {
      const text = hoursText(given);
      expect(text === null ? { hours: null, hoursExceptions: null } : parseHours(text)).toEqual(
        given,
      );
    }),
  );
});

it.each([
  ['Mo-Fr 7:00-19:00, 24.12.2026 8:00-14:00, 25.12.2026 off', '24.12.2026 8:00-14:00'],
  ['mon-fri 8:00-18:00; mi 8:00-12:00', 'mi 8:00-12:00'],
  ['from 8 to 5', 'from 8 to 5'],
  ['2026-12-25 off, always, mon 8:00-9:00', 'mon 8:00-9:00'],
])('of the hours %j, %j is not read', (text, part) => {
  expect(parseHours(text)).toBeUndefined();
  expect(unreadHours(text)).toBe(part);
});
