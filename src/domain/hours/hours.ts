import { z } from 'zod';
import {
  parseDate,
  parseDays,
  parseEnd,
  parseStart,
  type Weekday,
  weekdays,
} from './local-times.ts';

const startMessage = 'must be a time such as 08:00';
export const startTime = z
  .string(startMessage)
  .regex(/^([01]?\d|2[0-3]):[0-5]\d$/, startMessage)
  .overwrite((text) => parseStart(text) ?? text)
  .meta({ example: '08:00' });

const endMessage = 'must be a time such as 18:00, or 24:00';
export const endTime = z
  .string(endMessage)
  .regex(/^(([01]?\d|2[0-3]):[0-5]\d|24:00)$/, endMessage)
  .overwrite((text) => parseEnd(text) ?? text)
  .meta({ description: 'Not after `from`: on the next day.', example: '18:00' });

export const localDate = z
  .string('must be a date such as 2026-12-24')
  .regex(/^\d{4}-\d\d-\d\d$/, 'must be a date such as 2026-12-24')
  .refine((text) => parseDate(text) !== undefined, 'is not a date of the calendar')
  .meta({ example: '2026-12-24' });

/** Days of the week, as a list or as a text, such as `mon-fri`. */
export const localDays = z
  .union(
    [
      z.string(),
      z
        .array(z.string('must be a day such as mon'))
        .min(1, 'must name a day')
        .max(weekdays.length, 'must name each day once'),
    ],
    { error: 'must be days such as mon, mon-fri or sat+sun' },
  )
  .transform((given, context): Weekday[] => {
    const found = new Set<Weekday>();
    for (const [place, text] of [given].flat().entries()) {
      const days = parseDays(text);
      for (const day of days ?? []) found.add(day);
      if (!days)
        context.issues.push({
          code: 'custom',
          path: Array.isArray(given) ? [place] : [],
          message: 'must be days such as mon, mon-fri or sat+sun',
          input: text,
        });
    }
    return [...found];
  })
  .meta({ example: ['mon', 'tue'] });

/** Maximum number of entries: four a day. */
const maxEntries = 28;
/** Maximum number of exceptions: more than the holidays of five years. */
const maxExceptions = 100;

/** Opening hours in the local time of the venue (docs/protocol.md §5.3). */
export const hours = z
  .array(
    z.strictObject({ days: localDays, from: startTime, to: endTime }),
    'must be a list of opening hours, or null',
  )
  .max(maxEntries, `must have at most ${maxEntries} entries`);

const exception = z
  .strictObject({
    dates: z.strictObject(
      {
        from: localDate.meta({ description: 'The first day.' }),
        until: localDate.meta({ description: 'The last day.' }),
      },
      'must be an object with from and until',
    ),
    from: startTime.optional().meta({ description: 'Without times: closed.' }),
    to: endTime.optional(),
  })
  .superRefine(({ dates, from, to }, context) => {
    const complain = (path: string[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    if (dates.until < dates.from) complain(['dates', 'until'], 'must not be before from');
    if ((from === undefined) !== (to === undefined))
      complain([from === undefined ? 'from' : 'to'], 'is required: from and to belong together');
  });

/** Hours of dates, instead of those of their weekdays. An empty list is `null`. */
export const hoursExceptions = z
  .array(exception, 'must be a list of exceptions, or null')
  .max(maxExceptions, `must have at most ${maxExceptions} entries`)
  .nullable()
  .transform((given) => (given?.length === 0 ? null : given));

const storedDays = z.array(z.enum(weekdays));

/** Opening hours in a row. */
export const storedHours = z.array(
  z.strictObject({ days: storedDays, from: z.string(), to: z.string() }),
);
export const storedExceptions = z.array(
  z.strictObject({
    dates: z.strictObject({ from: z.string(), until: z.string() }),
    from: z.string().optional(),
    to: z.string().optional(),
  }),
);

/** Opening hours in an answer, which may get more members. */
export const hoursView = z.array(z.object({ days: storedDays, from: z.string(), to: z.string() }));
export const exceptionsView = z.array(
  z.object({
    dates: z.object({ from: z.string(), until: z.string() }),
    from: z.string().optional(),
    to: z.string().optional(),
  }),
);
