import { describe, expect, it } from 'vitest';
import { isOpenAt } from '../../src/calendar/opening-hours.ts';
import type { Hours, HoursExceptions } from '../../src/domain/hours/hours-text.ts';

const workdays: Hours[number]['days'] = ['mon', 'tue', 'wed', 'thu', 'fri'];
const at = (text: string) => Date.parse(text);
const isOpen = (hours: Hours, time: string, timezone = 'Europe/Berlin') =>
  isOpenAt({ hours, hoursExceptions: null }, timezone, at(time));
const isOpenWith = (
  hours: Hours | null,
  hoursExceptions: HoursExceptions,
  time: string,
  timezone = 'Europe/Berlin',
) => isOpenAt({ hours, hoursExceptions }, timezone, at(time));
const on = (from: string, until = from) => ({ dates: { from, until } });

describe('opening hours', () => {
  it('are local times of the venue, from the first minute until the last one has passed', () => {
    const hours: Hours = [{ days: workdays, from: '08:00', to: '18:00' }];
    // Monday, one hour ahead of UTC.
    expect(isOpen(hours, '2026-11-23T06:59:59Z')).toBe(false);
    expect(isOpen(hours, '2026-11-23T07:00:00Z')).toBe(true);
    expect(isOpen(hours, '2026-11-23T16:59:59Z')).toBe(true);
    expect(isOpen(hours, '2026-11-23T17:00:00Z')).toBe(false);
    expect(isOpen(hours, '2026-11-22T12:00:00Z')).toBe(false);
    expect(isOpen(hours, '2026-11-23T07:00:00Z', 'America/New_York')).toBe(false);
  });

  it('go past midnight if they do not end after they begin', () => {
    const bar: Hours = [{ days: ['sat'], from: '20:00', to: '02:00' }];
    expect(isOpen(bar, '2026-11-21T20:00:00Z')).toBe(true);
    expect(isOpen(bar, '2026-11-22T00:59:00Z')).toBe(true);
    expect(isOpen(bar, '2026-11-22T01:00:00Z')).toBe(false);
    expect(isOpen(bar, '2026-11-20T23:30:00Z')).toBe(false);
    const day: Hours = [{ days: ['sat'], from: '08:00', to: '08:00' }];
    expect(isOpen(day, '2026-11-22T06:59:00Z')).toBe(true);
    expect(isOpen(day, '2026-11-22T07:00:00Z')).toBe(false);
  });

  it('are always without entries, and the union of several', () => {
    expect(isOpen([], '2026-11-22T03:00:00Z')).toBe(true);
    const twice: Hours = [
      { days: workdays, from: '08:00', to: '12:00' },
      { days: workdays, from: '14:00', to: '18:00' },
    ];
    expect(isOpen(twice, '2026-11-23T12:00:00Z')).toBe(false);
    expect(isOpen(twice, '2026-11-23T13:00:00Z')).toBe(true);
  });

  it('begin when the clocks skip their beginning, and end after a time that comes twice', () => {
    // In Berlin, the clocks go from 2 to 3 on 29 March, and from 3 to 2 on 25 October, at 1 UTC.
    const early: Hours = [{ days: ['sun'], from: '02:30', to: '04:00' }];
    expect(isOpen(early, '2026-03-29T00:59:59Z')).toBe(false);
    expect(isOpen(early, '2026-03-29T01:00:00Z')).toBe(true);
    const skippedEnd: Hours = [{ days: ['sun'], from: '01:00', to: '02:30' }];
    expect(isOpen(skippedEnd, '2026-03-29T00:59:59Z')).toBe(true);
    expect(isOpen(skippedEnd, '2026-03-29T01:00:00Z')).toBe(false);
    const twice: Hours = [{ days: ['sun'], from: '02:30', to: '02:45' }];
    expect(isOpen(twice, '2026-10-25T00:29:59Z')).toBe(false);
    expect(isOpen(twice, '2026-10-25T00:30:00Z')).toBe(true);
    expect(isOpen(twice, '2026-10-25T01:44:59Z')).toBe(true);
    expect(isOpen(twice, '2026-10-25T01:45:00Z')).toBe(false);
    // Lord Howe Island shifts by 30 minutes: from 2:00 to 2:30 on 4 October.
    const half: Hours = [{ days: ['sun'], from: '02:15', to: '03:00' }];
    expect(isOpen(half, '2026-10-03T15:29:59Z', 'Australia/Lord_Howe')).toBe(false);
    expect(isOpen(half, '2026-10-03T15:30:00Z', 'Australia/Lord_Howe')).toBe(true);
  });

  it('of an exception replace those that would begin on its dates', () => {
    const hours: Hours = [{ days: workdays, from: '08:00', to: '18:00' }];
    const exceptions = [
      { ...on('2026-12-24'), from: '08:00', to: '14:00' },
      on('2026-12-25', '2026-12-26'),
    ];
    expect(isOpenWith(hours, exceptions, '2026-12-23T16:59:00Z')).toBe(true);
    expect(isOpenWith(hours, exceptions, '2026-12-24T12:59:00Z')).toBe(true);
    expect(isOpenWith(hours, exceptions, '2026-12-24T13:00:00Z')).toBe(false);
    expect(isOpenWith(hours, exceptions, '2026-12-25T11:00:00Z')).toBe(false);
    expect(isOpenWith(hours, exceptions, '2026-12-28T07:00:00Z')).toBe(true);
    // Opens a day that is closed otherwise, and several of one date add up.
    const sunday = [
      { ...on('2026-12-20'), from: '10:00', to: '12:00' },
      { ...on('2026-12-20'), from: '13:00', to: '15:00' },
    ];
    expect(isOpenWith(hours, sunday, '2026-12-20T09:00:00Z')).toBe(true);
    expect(isOpenWith(hours, sunday, '2026-12-20T11:30:00Z')).toBe(false);
    expect(isOpenWith(hours, sunday, '2026-12-20T12:30:00Z')).toBe(true);
  });

  it('of an exception follow the calendar: past midnight, and when the clocks change', () => {
    const bar: Hours = [{ days: ['thu', 'fri'], from: '20:00', to: '02:00' }];
    // The night before still ends at 2 on the holiday, whose own night does not begin.
    expect(isOpenWith(bar, [on('2026-12-25')], '2026-12-25T00:59:00Z')).toBe(true);
    expect(isOpenWith(bar, [on('2026-12-25')], '2026-12-25T01:00:00Z')).toBe(false);
    expect(isOpenWith(bar, [on('2026-12-25')], '2026-12-25T20:00:00Z')).toBe(false);
    const night = [{ ...on('2026-12-26'), from: '20:00', to: '04:00' }];
    expect(isOpenWith(bar, night, '2026-12-27T02:59:00Z')).toBe(true);
    expect(isOpenWith(bar, night, '2026-12-27T03:00:00Z')).toBe(false);
    const skipped = [{ ...on('2026-03-29'), from: '02:30', to: '04:00' }];
    expect(isOpenWith(bar, skipped, '2026-03-29T00:59:59Z')).toBe(false);
    expect(isOpenWith(bar, skipped, '2026-03-29T01:00:00Z')).toBe(true);
    expect(isOpenWith(bar, [on('2026-12-25')], '2026-12-26T00:30:00Z', 'America/New_York')).toBe(
      false,
    );
  });

  it.each([[null], [[]]])('of %j are always, but on dates that are closed', (hours) => {
    expect(isOpenWith(hours, [on('2026-12-25')], '2026-12-24T22:59:00Z')).toBe(true);
    expect(isOpenWith(hours, [on('2026-12-25')], '2026-12-24T23:00:00Z')).toBe(false);
    expect(isOpenWith(hours, [on('2026-12-25')], '2026-12-25T22:59:00Z')).toBe(false);
    expect(isOpenWith(hours, [on('2026-12-25')], '2026-12-25T23:00:00Z')).toBe(true);
  });
});
