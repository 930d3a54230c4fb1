import { z } from 'zod';
import { isoMs } from '../clock.ts';
import { instant, isoTime, recordId, recordName } from '../fields.ts';
import { timeOfDay } from '../hours/hours.ts';
import { weekdays } from '../hours/hours-text.ts';
import { timeInQuery } from '../paging.ts';
import { playlistItems } from '../playlists/playlist.ts';
import { entryIdOf, nothingId, takeoverId } from './entry-times.ts';

/** Maximum number of entries of a schedule (docs/protocol.md §5.18). */
const maxEntries = 24;

const localDate = z
  .string('must be a date such as 2026-12-24')
  .regex(/^\d{4}-\d\d-\d\d$/, 'must be a date such as 2026-12-24')
  .refine((text) => !Number.isNaN(isoMs(text)), 'is not a date of the calendar')
  .meta({ example: '2026-12-24' });

const members = {
  name: recordName.optional().meta({
    description: 'For people, and the id of the entry. Default: `entry-1` for the first entry, …',
    example: 'Breakfast',
  }),
  days: z
    .array(z.enum(weekdays, `must be one of ${weekdays.join(', ')}`), 'must be an array of days')
    .min(1, 'must name a day')
    .max(weekdays.length, 'must name each day once')
    .optional()
    .meta({ description: 'Default: every day.', example: ['mon', 'tue'] }),
  from: timeOfDay.optional().meta({ description: 'Default, with `to`: the whole day.' }),
  to: timeOfDay.optional().meta({ description: 'Not after `from`: on the next day.' }),
  dates: z
    .strictObject(
      {
        from: localDate.optional().meta({ description: 'The first day.' }),
        until: localDate.optional().meta({ description: 'The last day.' }),
      },
      'must be an object with from, until or both',
    )
    .optional(),
  at: instant.optional().meta({ description: 'The start. Then `until` is required.' }),
  until: instant.optional().meta({ description: 'The end, for an entry with `at`.' }),
  items: playlistItems,
};

const entry = z.strictObject(members, 'must be an object').superRefine((given, context) => {
  const { from, to, dates, at, until } = given;
  const complain = (path: string[], message: string) =>
    context.addIssue({ code: 'custom', path, message });
  if (at === undefined) {
    if (until !== undefined) complain(['until'], 'is only for an entry with at');
    if ((from === undefined) !== (to === undefined))
      complain([from === undefined ? 'from' : 'to'], 'is required: from and to belong together');
    if (dates?.from !== undefined && dates.until !== undefined && dates.until < dates.from)
      complain(['dates', 'until'], 'must not be before from');
    return;
  }
  for (const member of ['days', 'from', 'to', 'dates'] as const)
    if (given[member] !== undefined) complain([member], 'is not for an entry with at');
  if (until === undefined) complain(['until'], 'is required for an entry with at');
  else if (until <= at) complain(['until'], 'must be after at');
});

/** The schedule of a screen, or of the screens of a venue (docs/protocol.md §5.18). */
export const schedule = z
  .strictObject({
    entries: z
      .array(entry, `must be an array of 1 to ${maxEntries} entries`)
      .min(1, `must have 1 to ${maxEntries} entries`)
      .max(maxEntries, `must have 1 to ${maxEntries} entries`),
  })
  .superRefine(({ entries }, context) => {
    const reserved = ['base', nothingId, takeoverId];
    const known = new Set<string>(reserved);
    for (const [place, one] of entries.entries()) {
      const id = entryIdOf(one, place);
      if (known.has(id))
        context.addIssue({
          code: 'custom',
          path: ['entries', place, 'name'],
          message: reserved.includes(id) ? 'is reserved' : 'is the id of another entry, too',
        });
      known.add(id);
    }
  })
  .meta({ id: 'ScheduleInput' });
export type Schedule = z.infer<typeof schedule>;

const epochSeconds = z.int().meta({ description: 'Unix epoch seconds', example: 1_766_599_200 });

/** A stored schedule. It is also a valid body. */
export const scheduleView = z
  .object({
    entries: z.array(
      z.object({
        name: z.string().optional(),
        days: z.array(z.enum(weekdays)).optional(),
        from: z.string().optional(),
        to: z.string().optional(),
        dates: z.object({ from: z.string().optional(), until: z.string().optional() }).optional(),
        at: epochSeconds.optional(),
        until: epochSeconds.optional(),
        items: playlistItems,
      }),
    ),
  })
  .meta({ id: 'Schedule' });
export type ScheduleView = z.infer<typeof scheduleView>;

/** Items that play above everything until they end by themselves (docs/protocol.md §5.18). */
export const takeover = z
  .strictObject({ items: playlistItems, until: instant })
  .meta({ id: 'TakeoverInput' });
export type Takeover = z.infer<typeof takeover>;

export const takeoverView = z
  .object({ items: playlistItems, until: epochSeconds, since: isoTime })
  .meta({ id: 'Takeover' });
export type TakeoverView = z.infer<typeof takeoverView>;

/** The layers that can be on a screen, from above. */
const layerNames = ['takeover', 'on-demand', 'schedule', 'base', 'none'] as const;

export const explainQuery = z.strictObject({
  at: timeInQuery.optional().meta({
    description: 'The time to explain. Default: now.',
    example: '2026-12-24T12:00:00Z',
  }),
});

/** What a screen plays at a time, and why (docs/protocol.md §5.18). */
export const explanation = z
  .object({
    at: isoTime,
    layer: z.enum(layerNames),
    entryId: z.string().nullable().meta({ description: '`null`: the base, or nothing' }),
    since: isoTime.nullable().meta({ description: '`null`: for at least a week' }),
    until: isoTime.nullable().meta({ description: '`null`: for at least a week' }),
    version: z.int().min(1).nullable().meta({
      description: 'what TVs get now; `null` at another time, and without a playlist',
    }),
    schedule: z
      .object({
        level: z.enum(['screen', 'venue']),
        since: isoTime,
        timezone: z.string().nullable(),
      })
      .nullable()
      .meta({ description: 'the schedule that the screen follows' }),
    base: z
      .object({ version: z.int().min(1), status: z.string(), publishedAt: isoTime })
      .nullable(),
    tv: z
      .object({
        deviceId: recordId,
        version: z.int().nullable().meta({ description: 'what the TV fetched last' }),
        fetchedAt: isoTime.nullable(),
        isCurrent: z.boolean(),
      })
      .nullable(),
    config: z.record(
      z.string(),
      z.object({
        value: z.unknown().meta({ description: 'any JSON' }),
        source: z.enum(['screen', 'venue', 'tenant', 'default']),
      }),
    ),
  })
  .meta({ id: 'Explanation' });
export type Explanation = z.infer<typeof explanation>;
