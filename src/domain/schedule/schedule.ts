import { z } from 'zod';
import { instant, instantOr, isoTime, recordId, recordName } from '../fields.ts';
import { endTime, localDate, localDays, startTime } from '../hours/hours.ts';
import { weekdays } from '../hours/local-times.ts';
import { layerNames, takeoverId } from '../layers/layer-names.ts';
import { layerStates } from '../layers/layer-state.ts';
import { timeInQuery } from '../paging.ts';
import { playlistItems, suppliedItems } from '../playlists/playlist.ts';
import { entryIdOf, nothingId } from './entry-times.ts';

/** Maximum number of entries of a schedule (docs/protocol.md §5.18). */
const maxEntries = 24;

const entryInstant = instantOr(
  'write from and to for times of each day, or add the date, such as 2026-12-24T18:00:00Z',
);

const members = {
  name: recordName.optional().meta({
    description: 'For people, and the id of the entry. Default: `entry-1` for the first entry, …',
    example: 'Breakfast',
  }),
  days: localDays.optional().meta({
    description: 'Days, or a text such as `mon-fri`. Default: every day.',
    example: ['mon', 'tue'],
  }),
  from: startTime.optional().meta({ description: 'Default, with `to`: the whole day.' }),
  to: endTime.optional().meta({ description: 'Not after `from`: on the next day.' }),
  dates: z
    .strictObject(
      {
        from: localDate.optional().meta({ description: 'The first day.' }),
        until: localDate.optional().meta({ description: 'The last day.' }),
      },
      'must be an object with from, until or both',
    )
    .optional(),
  at: entryInstant.optional().meta({ description: 'The start. Then `until` is required.' }),
  until: entryInstant.optional().meta({ description: 'The end, for an entry with `at`.' }),
  items: playlistItems.optional(),
  base: z
    .literal(true, 'must be true')
    .optional()
    .meta({ description: 'Instead of `items`: the playlist of the screen plays.' }),
};

const entry = z.strictObject(members, 'must be an object').superRefine((given, context) => {
  const { from, to, dates, at, until, items, base } = given;
  const complain = (path: string[], message: string) =>
    context.addIssue({ code: 'custom', path, message });
  if (items === undefined && base === undefined)
    complain(['items'], 'is required, or base: true for the playlist of the screen');
  if (items && base) complain(['base'], 'must not stand beside items');
  if (at === undefined) {
    if (until !== undefined)
      complain(['until'], 'is only for an entry with at: others end at to, and on dates.until');
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
      .array(entry, `must be an array of at most ${maxEntries} entries`)
      .max(maxEntries, `must have at most ${maxEntries} entries`)
      .meta({ description: 'Empty, of a screen: it does not follow the schedule of its venue.' }),
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

/** A stored schedule. */
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
        items: suppliedItems.optional(),
        base: z.literal(true).optional(),
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
  .object({ items: suppliedItems, until: epochSeconds, since: isoTime })
  .meta({ id: 'Takeover' });
export type TakeoverView = z.infer<typeof takeoverView>;

/** The layers that can be on a screen, from above. */
const explainedLayers = ['takeover', 'on-demand', 'schedule', 'base', 'none'] as const;

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
    layer: z.enum(explainedLayers),
    entryId: z.string().nullable().meta({ description: '`null`: the base, or nothing' }),
    since: isoTime.nullable().meta({ description: '`null`: for at least a week' }),
    until: isoTime.nullable().meta({ description: '`null`: for at least a week' }),
    version: z.int().min(1).nullable().meta({
      description: 'what TVs get now; `null` at another time, and without a playlist',
    }),
    items: z
      .array(
        z.object({
          creativeId: z.string(),
          name: z.string().meta({ description: 'of the item, or else that in its URL' }),
          creativeUrl: z.string(),
        }),
      )
      .nullable()
      .optional()
      .meta({ description: 'what plays; `null`: nothing, or it is not kept any more' }),
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
        state: z.enum(layerStates).nullable().optional().meta({
          description: 'whether it shows what is due; `null` at another time, or if nothing is due',
        }),
        since: isoTime.nullable().optional(),
      })
      .nullable(),
    beneath: z
      .array(z.object({ layer: z.enum(layerNames), entryId: z.string().nullable() }))
      .optional()
      .meta({ description: 'what a TV plays if all of `items` fails, the highest layer first' }),
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
