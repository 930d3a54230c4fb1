import { expect, it } from 'vitest';
import { hoursText, parseHours } from '../../../src/domain/hours/hours-text.ts';

it.each([
  ['mon-fri 08:00-18:00', 'mon-fri 08:00-18:00'],
  ['  Sat+Sun 8:00 – 24:00 ', 'sat+sun 08:00-00:00'],
  [
    'fri-mon 20:00-02:00; tue,wed 8:00-9:00'.replace(',', '+'),
    'mon+fri-sun 20:00-02:00, tue+wed 08:00-09:00',
  ],
  ['mon+tue+wed+fri 08:00-18:00', 'mon-wed+fri 08:00-18:00'],
  ['Always', 'always'],
])('hours are read from %j, and written as %j', (text, written) => {
  const hours = parseHours(text);
  expect(hours && hoursText(hours)).toBe(written);
  expect(parseHours(written)).toEqual(hours);
});

it.each([
  '',
  'mon',
  '08:00-18:00',
  'mon-fri-sun 08:00-18:00',
  'montag 08:00-18:00',
  'mon 08:60-18:00',
  'mon 25:00-26:00',
  'mon 08:00-18:00,',
])('there are no hours in %j', (text) => {
  expect(parseHours(text)).toBeUndefined();
});
