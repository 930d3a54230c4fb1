import { z } from 'zod';
import { iso } from '../clock.ts';

export const reportGroups = ['campaign', 'creative', 'entry', 'screen', 'venue', 'day'] as const;
export type ReportGroup = (typeof reportGroups)[number];

/** Whether a report counts all devices, no simulated devices, or only simulated devices. */
const simulatedChoices = ['include', 'exclude', 'only'] as const;

/** The clock that assigns an impression to a day: the event's timestamp, or the time of receipt. */
export const reportClocks = ['timestamp', 'received'] as const;
export type ReportClock = (typeof reportClocks)[number];

const utcDay = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a UTC day such as 2026-11-20')
  .refine((day) => dayOf(Date.parse(day)) === day, 'must be a UTC day such as 2026-11-20')
  .meta({ format: 'date', example: '2026-11-20' })
  .optional();

export const reportQuery = z.strictObject({
  groupBy: z
    .enum(reportGroups, { error: `must be one of ${reportGroups.join(', ')}` })
    .default('campaign')
    .meta({ description: 'The subject of a row.' }),
  from: utcDay.meta({ description: 'The first UTC day.', example: '2026-11-01' }),
  to: utcDay.meta({ description: 'The UTC day after the last one.', example: '2026-12-01' }),
  by: z
    .enum(reportClocks, { error: 'must be timestamp or received' })
    .default('timestamp')
    .meta({ description: 'The time that assigns an impression to a day.' }),
  simulated: z
    .enum(simulatedChoices, { error: `must be one of ${simulatedChoices.join(', ')}` })
    .optional()
    .meta({ description: 'Whether simulated devices count. Default: `include`.' }),
});
export type ReportQuery = z.infer<typeof reportQuery>;

const reportRow = z
  .object({
    key: z.string(),
    name: z.string().nullable().optional().meta({
      description: 'With `groupBy=campaign`: the name that items give the campaign.',
    }),
    impressions: z.int(),
    seconds: z.number(),
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
  .object({ items: z.array(reportRow), misdated: misdated.nullable() })
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
