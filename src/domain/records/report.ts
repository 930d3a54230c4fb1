import { z } from 'zod';
import { iso } from '../clock.ts';
import { recordId } from '../fields.ts';
import { selectorQuery } from '../paging.ts';

export const reportGroups = ['campaign', 'creative', 'entry', 'screen', 'venue', 'day'] as const;
export type ReportGroup = (typeof reportGroups)[number];

/** Whether a report counts all devices, no simulated devices, or only simulated devices. */
const simulatedChoices = ['include', 'exclude', 'only'] as const;

export type SimulatedChoice = (typeof simulatedChoices)[number];

/** The clock that assigns an impression to a day: the event's timestamp, or the time of receipt. */
export const reportClocks = ['timestamp', 'received'] as const;
export type ReportClock = (typeof reportClocks)[number];

/** Whose days a report has: those of UTC, or those of the venue of each screen. */
const reportDays = ['utc', 'venue'] as const;

const aDay = 'must be a day such as 2026-11-20, without a time';
export const calendarDay = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, aDay)
  .refine((day) => dayOf(Date.parse(day)) === day, aDay)
  .meta({ format: 'date', example: '2026-11-20' });

const groupNames = `one or two of ${reportGroups.join(', ')}, with a comma between`;
const isGroup = (name: string): name is ReportGroup =>
  (reportGroups as readonly string[]).includes(name);

const ids = z.union([recordId.transform((id) => [id]), z.array(recordId).max(200)]).optional();

/** What `by`, `days`, `from` and `to` mean in all reports. */
export const reportRange = {
  days: z.enum(reportDays, { error: 'must be utc or venue' }).default('utc').meta({
    description: '`venue`: local days of the venue of each screen, as of the receipt.',
  }),
  from: calendarDay.optional().meta({ description: 'The first day.', example: '2026-11-01' }),
  to: calendarDay
    .optional()
    .meta({ description: 'The day after the last one.', example: '2026-12-01' }),
  simulated: z
    .enum(simulatedChoices, { error: `must be one of ${simulatedChoices.join(', ')}` })
    .optional()
    .meta({ description: 'Whether simulated devices count. Default: `include`.' }),
  venueId: ids.meta({ description: 'Only this venue. May be repeated.' }),
  screenId: ids.meta({ description: 'Only this screen. May be repeated.' }),
  selector: selectorQuery,
};

/** Refuses a range that ends before it begins. */
export function checkDays(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  context: z.RefinementCtx,
): void {
  if (from !== undefined && to !== undefined && to < from)
    context.addIssue({ code: 'custom', path: ['to'], message: `must not be before from, ${from}` });
}

const rangedQuery = z.strictObject({
  groupBy: z
    .string()
    .regex(/^[a-z]+(,[a-z]+)?$/, `must be ${groupNames}`)
    .default('campaign')
    .transform((text, context): ReportGroup[] => {
      const groups = text.split(',').filter(isGroup);
      if (groups.length === text.split(',').length && groups[0] !== groups[1]) return groups;
      context.addIssue({ code: 'custom', message: `must be ${groupNames}` });
      return z.NEVER;
    })
    .meta({ description: `The subject of a row: ${groupNames}.`, example: 'screen,creative' }),
  ...reportRange,
  by: z
    .enum(reportClocks, { error: 'must be timestamp or received' })
    .default('timestamp')
    .meta({ description: 'The time that assigns an impression to a day.' }),
});
export const reportQuery = rangedQuery.superRefine(checkDays);
export type ReportQuery = z.infer<typeof reportQuery>;

/** Impressions of one group. */
export interface ImpressionRow {
  key: string;
  impressions: number;
  seconds: number;
}

export const playsQuery = z
  .strictObject({
    campaign: z.string().min(1).max(200).optional().meta({
      description: 'Only impressions of this campaign, by its name or id.',
      example: 'summer',
    }),
    ...reportRange,
  })
  .superRefine(checkDays);
export type PlaysQuery = z.infer<typeof playsQuery>;

/** One play. `null`: nothing names it, or its TV did not report it. */
export interface PlayRow {
  venue: string | null;
  screen: string | null;
  item: string | null;
  creativeId: string | null;
  campaign: string | null;
  campaignId: string | null;
  /** By the clock of the venue, with its offset. */
  localStart: string;
  start: string;
  seconds: number;
  planned: number | null;
  full: boolean | null;
  receivedAt: string;
  seq: number | null;
  screenId: string;
  venueId: string;
}

export const nameOfKey = z.string().nullable().meta({
  description:
    'The name of the key: `Venue/Screen`, a venue, a campaign, the name of an item, an entry. `null`: nothing names it, or it is a day.',
});
const reportRow = z
  .object({
    key: z.string().meta({ description: 'An id, the name of an entry, or a day.' }),
    name: nameOfKey,
    key2: z.string().optional().meta({ description: 'The key of the second group.' }),
    name2: nameOfKey.optional(),
    impressions: z.int(),
    seconds: z.number().meta({ description: 'Of the impressions.' }),
    fullPlays: z.int().meta({
      description:
        'Impressions and plays that lasted at least their planned duration minus half a second.',
    }),
    partialPlays: z.int(),
    unknownPlays: z.int().meta({ description: 'Those without a planned or a real duration.' }),
    plays: z.int().meta({
      description: 'Events of the type `play`, of items without a campaign. Not by campaign.',
    }),
    client: z.string().optional().meta({ description: 'Who has booked the campaign.' }),
    bookedPlays: z.int().optional(),
    bookedSeconds: z.int().optional(),
    bookedFrom: z.string().optional(),
    bookedTo: z.string().optional(),
    deliveredPlays: z.int().optional().meta({
      description:
        'Impressions on the booked days, on all screens, without simulated devices, whatever days the report has.',
    }),
    deliveredSeconds: z.number().optional(),
  })
  .meta({ id: 'ImpressionRow' });
export type ReportRow = z.infer<typeof reportRow>;
const misdated = z
  .object({ impressions: z.int(), screens: z.int(), firstDay: z.string(), lastDay: z.string() })
  .meta({
    description:
      'Impressions with impossible days, before 2000 or in the future, that the report does not contain.',
  });
export const impressionReport = z
  .object({
    items: z.array(reportRow),
    misdated: misdated.nullable(),
    venueDaysSince: z.string().nullable().meta({
      description:
        'With `days=venue`: the first day that is exact. Impressions that version 0.1.0 received count on their UTC day. `null`: all days are exact.',
      example: '2026-12-02',
    }),
    ungrouped: z.int().nullable().meta({
      description:
        'Impressions that version 0.1.0 counted by other groups, so that no row has them. `null`: none.',
    }),
  })
  .meta({ id: 'ImpressionReport' });
export type ImpressionReport = z.infer<typeof impressionReport>;

/** Events of TVs with wrong clocks are dated before this day, or in the future. */
export const firstDay = '2000-01-01';

const lastTimeMs = Date.UTC(9999, 11, 31);

/**
 * Returns the UTC day of a time, as `2026-11-20`. Times after the year 9999 count towards the last
 * day of that year. Returns an empty string for `NaN`.
 */
export function dayOf(timeMs: number): string {
  if (Number.isNaN(timeMs)) return '';
  return iso(Math.min(timeMs, lastTimeMs)).slice(0, 10);
}
