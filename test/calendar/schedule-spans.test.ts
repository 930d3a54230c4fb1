import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Span, scheduleSpans } from '../../src/calendar/schedule-spans.ts';
import { dayMs } from '../../src/domain/clock.ts';
import { weekdays } from '../../src/domain/hours/local-times.ts';
import { schedule } from '../../src/domain/schedule/schedule.ts';
import { samplePlaylist } from '../../src/testing/fixtures.ts';
import { daysOfChange, switchesOf } from './second-calendar.ts';

/** Four change at midnight, one by 30 minutes, and two have offsets of 30 and 45 minutes. */
const zones = [
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  'America/Los_Angeles',
  'America/St_Johns',
  'America/Havana',
  'America/Santiago',
  'Africa/Cairo',
  'Asia/Beirut',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Pacific/Auckland',
];

const timeText = (minute: number) =>
  [Math.floor(minute / 60) % 24, minute % 60].map((one) => String(one).padStart(2, '0')).join(':');

/** Expects spans that fill the range, and differ from their neighbours. */
function expectComplete(spans: readonly Span[], fromMs: number, untilMs: number): void {
  const wrong = spans.filter((span, index) => {
    const before = spans[index - 1];
    const follows = before ? before.untilMs === span.fromMs : span.fromMs === fromMs;
    return !follows || span.fromMs >= span.untilMs || before?.place === span.place;
  });
  expect(wrong).toEqual([]);
  expect(spans.at(-1)?.untilMs).toBe(untilMs);
}

const switchesIn = (spans: readonly Span[]) =>
  spans.map(({ fromMs, place }) => ({ fromMs, place }));

const entryTimes = fc.record(
  {
    days: fc.subarray([...weekdays], { minLength: 1 }),
    hours: fc.tuple(fc.integer({ min: 0, max: 1439 }), fc.integer({ min: 0, max: 1439 })),
    dates: fc.record(
      {
        from: fc.constantFrom('2026-03-27', '2026-03-29', '2026-10-24'),
        until: fc.constantFrom('2026-03-29', '2026-03-30', '2026-11-01'),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

describe('scheduleSpans', () => {
  it.each(zones)(
    '%s has the switches of another calendar whenever the clocks change in 2024–2030',
    (zone) => {
      const days = daysOfChange(zone, 2024, 2030);
      expect(days.length).toBeGreaterThanOrEqual(14);
      for (const day of days) {
        for (const shift of [0, 15, 30, 45]) {
          const entries = Array.from({ length: 24 }, (_, index) => ({
            from: timeText(index * 60 + shift),
            to: timeText(index * 60 + shift + 45),
          }));
          const range = { fromMs: day - dayMs, untilMs: day + 2 * dayMs };
          const spans = scheduleSpans(entries, zone, range);
          expectComplete(spans, range.fromMs, range.untilMs);
          expect(switchesIn(spans)).toEqual(switchesOf(entries, zone, range));
        }
      }
    },
  );

  it('has the switches of another calendar, for any entries', () => {
    const property = fc.property(
      fc.array(entryTimes, { maxLength: 8 }),
      fc.constantFrom(...zones),
      fc.constantFrom(Date.UTC(2026, 2, 28), Date.UTC(2026, 9, 24), Date.UTC(2026, 3, 24)),
      (written, zone, fromMs) => {
        const entries = written.map(({ hours, ...entry }) => ({
          ...entry,
          ...(hours && { from: timeText(hours[0]), to: timeText(hours[1]) }),
        }));
        const range = { fromMs, untilMs: fromMs + 4 * dayMs };
        const spans = scheduleSpans(entries, zone, range);
        expectComplete(spans, range.fromMs, range.untilMs);
        expect(switchesIn(spans)).toEqual(switchesOf(entries, zone, range));
      },
    );
    fc.assert(property, { numRuns: 500 });
  });

  it('takes less than 5 ms for 24 entries and four days', () => {
    const entries = Array.from({ length: 24 }, (_, hour) => ({
      from: timeText(hour * 60),
      to: timeText(hour * 60 + 90),
      dates: { from: '2026-01-01', until: '2026-12-24' },
    }));
    const times = Array.from({ length: 20 }, (_, day) => {
      const fromMs = Date.UTC(2026, 2, 10 + day);
      const start = performance.now();
      scheduleSpans(entries, 'Europe/Berlin', { fromMs, untilMs: fromMs + 4 * dayMs });
      return performance.now() - start;
    });
    // The median: the machine may do other work, too.
    expect(times.sort((a, b) => a - b)[10]).toBeLessThan(5);
  });
});

describe('schedules', () => {
  const { items } = samplePlaylist;

  it('of 10,000 fuzzed ones, each is refused with a path, or plays without gap and overlap', () => {
    const mostly = <T>(valid: fc.Arbitrary<T>, ...wrong: unknown[]) =>
      fc.oneof(
        { weight: 12, arbitrary: valid as fc.Arbitrary<unknown> },
        { weight: 1, arbitrary: fc.constantFrom(...wrong) },
      );
    const local = mostly(
      fc.integer({ min: 0, max: 1439 }).map(timeText),
      ...['24:00', '6:00', '06:60', '', null, 6, '06:00:00'],
    );
    const date = mostly(
      fc.constantFrom('2026-03-28', '2026-03-29', '2026-12-24'),
      ...['2026-02-30', '2026-2-3', '', null, 0],
    );
    const time = mostly(
      fc.integer({ min: 1_774_700_000, max: 1_775_000_000 }),
      ...[-1, 0, 1.5, '2026-03-29T01:00:00Z', '2026-03-29', 'now', null, 9e15],
    );
    const entry = fc.record(
      {
        name: mostly(
          fc.constantFrom('Breakfast', 'Lunch', 'Bar'),
          'base',
          'takeover',
          'entry-2',
          '',
          7,
        ),
        days: mostly(
          fc.subarray([...weekdays], { minLength: 1 }),
          ...[[], ['MON'], ['mon', 1], null, 'mon'],
        ),
        from: local,
        to: local,
        dates: fc.record({ from: date, until: date }, { requiredKeys: [] }),
        at: time,
        until: time,
        items: mostly(fc.constant(items), [], null, 'menu.png'),
        day: fc.constant('mon'),
      },
      { requiredKeys: ['items', 'from', 'to', 'at', 'until'] },
    );
    const whole = ['name', 'days', 'from', 'to', 'dates', 'items'];
    const forms = [whole, ['from', 'to', 'items'], ['at', 'until', 'items'], ['days', 'items']];
    const sparse = fc
      .tuple(entry, mostly(fc.constantFrom(...forms), ['from', 'items'], ['day', 'items'], null))
      .map(([one, form]) =>
        Object.fromEntries(
          Object.entries(one).filter(
            ([member]) => (form as string[] | null)?.includes(member) ?? true,
          ),
        ),
      );
    const fromMs = Date.UTC(2026, 2, 27);
    const range = { fromMs, untilMs: fromMs + 4 * dayMs };
    let accepted = 0;
    const property = fc.property(
      fc.array(sparse, { maxLength: 3 }),
      fc.constantFrom(...zones),
      (entries, zone) => {
        const parsed = schedule.safeParse({ entries });
        if (parsed.success) {
          accepted++;
          expectComplete(
            scheduleSpans(parsed.data.entries, zone, range),
            range.fromMs,
            range.untilMs,
          );
          return;
        }
        expect(parsed.error.issues.length).toBeGreaterThan(0);
        for (const { path, message } of parsed.error.issues) {
          expect(path[0]).toBe('entries');
          expect(message).not.toBe('');
        }
      },
    );
    fc.assert(property, { numRuns: 10_000 });
    expect(accepted).toBeGreaterThan(500);
  });
});
