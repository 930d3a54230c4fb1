import { z } from 'zod';
import { isoTime, labels, labelsPatch, linesOfText, recordId, recordName } from '../fields.ts';
import { exceptionsView, hours, hoursExceptions, hoursView } from '../hours/hours.ts';
import { nameQuery, pageQuery } from '../paging.ts';

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const address = linesOfText(500).nullable();
const timezone = z
  .string('must be an IANA time zone such as Europe/Berlin')
  .regex(/^[A-Za-z][A-Za-z0-9_+/-]{0,99}$/, 'must be an IANA time zone such as Europe/Berlin')
  .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin')
  .meta({ example: 'Europe/Berlin' })
  .nullable();

const venueHours = hours.nullable().meta({ description: 'Opening hours; `null`: always open.' });

const venueExceptions = hoursExceptions.meta({
  description: 'Hours of dates, instead of those of their weekdays. `null` or `[]`: none.',
});

/** Members that callers set, besides name and labels. */
export const venueSettings = {
  address: address.optional(),
  timezone: timezone.optional(),
  hours: venueHours.optional(),
  hoursExceptions: venueExceptions.optional(),
};

export const venueCreation = z
  .strictObject({
    name: recordName,
    ...venueSettings,
    labels: labels.nullish(),
  })
  .meta({ id: 'VenueCreation' });

export const venuePatch = z
  .strictObject({
    name: recordName.optional(),
    ...venueSettings,
    labels: labelsPatch.optional(),
  })
  .meta({ id: 'VenuePatch' });

export const venueQuery = z.strictObject({ ...pageQuery, ...nameQuery });

export const venue = z
  .object({
    id: recordId,
    tenantId: recordId,
    name: z.string(),
    address: z.string().nullable(),
    timezone: z.string().nullable(),
    hours: hoursView.nullable(),
    hoursExceptions: exceptionsView.nullable().optional(),
    labels: z.record(z.string(), z.string()),
    createdAt: isoTime,
    updatedAt: isoTime,
  })
  .meta({ id: 'Venue' });

export type VenueView = z.infer<typeof venue>;
export type VenueCreation = z.infer<typeof venueCreation>;
export type VenuePatch = z.infer<typeof venuePatch>;
export type VenueQuery = z.infer<typeof venueQuery>;
