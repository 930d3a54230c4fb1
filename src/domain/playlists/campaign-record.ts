import { z } from 'zod';
import { displayName, recordId } from '../fields.ts';
import { nameQuery, pageQuery } from '../paging.ts';
import { calendarDay } from '../records/report.ts';
import { campaignName } from './playlist.ts';

const most = 1_000_000_000_000;
const inRange = `must be 1 to ${most}`;
const amount = z.int('must be a whole number').min(1, inRange).max(most, inRange);

/** What a `PUT` sets. A missing member and `null` are the same. */
export const campaignInput = z
  .strictObject({
    name: campaignName.optional(),
    client: displayName(200).nullish().meta({ description: 'Who has booked it.' }),
    from: calendarDay.nullish().meta({ description: 'The first day, of the venues.' }),
    to: calendarDay.nullish().meta({ description: 'The day after the last one.' }),
    bookedPlays: amount.nullish().meta({ description: 'Impressions.', example: 5000 }),
    bookedSeconds: amount.nullish().meta({ description: 'Playing time.', example: 50_000 }),
  })
  .superRefine(({ from, to }, context) => {
    if (from && to && to <= from)
      context.addIssue({ code: 'custom', path: ['to'], message: `must be after from, ${from}` });
  })
  .meta({ id: 'CampaignInput' });

export const campaignQuery = z.strictObject({ ...pageQuery, ...nameQuery });

export const campaign = z
  .object({
    id: recordId,
    tenantId: recordId,
    name: z.string().meta({ description: 'The last name that items or a `PUT` gave it.' }),
    client: z.string().nullable(),
    from: z.string().nullable(),
    to: z.string().nullable(),
    bookedPlays: z.int().nullable(),
    bookedSeconds: z.int().nullable(),
  })
  .meta({ id: 'Campaign' });

export type CampaignInput = z.infer<typeof campaignInput>;
export type CampaignQuery = z.infer<typeof campaignQuery>;
export type CampaignView = z.infer<typeof campaign>;
