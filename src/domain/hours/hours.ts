import { z } from 'zod';
import { weekdays } from './hours-text.ts';

export const timeOfDay = z
  .string('must be a time such as 08:00')
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 08:00')
  .meta({ example: '08:00' });

/** Maximum number of entries: four a day. */
const maxEntries = 28;

/** Opening hours in the local time of the venue (docs/protocol.md §5.3). */
export const hours = z
  .array(
    z.strictObject({
      days: z
        .array(z.enum(weekdays, `must be one of ${weekdays.join(', ')}`))
        .min(1, 'must name a day')
        .max(weekdays.length, 'must name each day once'),
      from: timeOfDay,
      to: timeOfDay.meta({ description: 'Not after `from`: on the next day.', example: '18:00' }),
    }),
    'must be a list of opening hours, or null',
  )
  .max(maxEntries, `must have at most ${maxEntries} entries`);

/** Opening hours in an answer, which may get more members. */
export const hoursView = z.array(
  z.object({ days: z.array(z.enum(weekdays)), from: z.string(), to: z.string() }),
);
