import { z } from 'zod';
import { isoTime, recordId } from '../fields.ts';
import { listOf, pageQuery } from '../paging.ts';
import { calendarDay } from '../records/report.ts';

const campaign = z.string().min(1).max(200);
const ofCampaign = { description: 'The campaign, by its name or id.', example: 'summer' };

export const statementStart = z
  .strictObject({
    campaign: campaign.meta(ofCampaign),
    settleHours: z.int().min(0).max(8760).optional().meta({
      description: 'Hours after the end of a day until it is sealed. Default: 72.',
    }),
    from: calendarDay.optional().meta({ description: 'The first day. Default: today.' }),
    to: calendarDay.optional().meta({ description: 'The day after the last one. Default: none.' }),
  })
  .meta({ id: 'StatementCreation' });
export type StatementStart = z.infer<typeof statementStart>;

export const statementLog = z
  .object({
    campaignId: recordId,
    settleHours: z.int(),
    from: z.string(),
    to: z.string().nullable(),
    nextDay: z.string().meta({ description: 'The day that is sealed next.' }),
    number: z.int().meta({ description: 'The number of the newest statement, or 0.' }),
    keys: z
      .array(z.string())
      .meta({ description: 'Keys that verify; the last one is the current.' }),
    problem: z.string().nullable().meta({ description: 'Why nothing is sealed.' }),
  })
  .meta({ id: 'StatementLog' });
export type StatementLogView = z.infer<typeof statementLog>;

const statement = z
  .object({
    id: z.string(),
    campaignId: recordId,
    day: z.string(),
    number: z.int(),
    plays: z.int(),
    sealedAt: isoTime,
    note: z.string().meta({ description: 'The signed head.' }),
  })
  .meta({ id: 'Statement' });
export type StatementView = z.infer<typeof statement>;

export const statementQuery = z.strictObject({
  campaign: campaign.optional().meta(ofCampaign),
  ...pageQuery,
});
export type StatementQuery = z.infer<typeof statementQuery>;
export const statementList = listOf(statement).extend({ logs: z.array(statementLog) });
export type StatementList = z.infer<typeof statementList>;
export const statementRowsQuery = z.strictObject({
  id: z.string().max(400).default('').meta({ description: 'The id of a statement.' }),
});

export const statementResume = z
  .strictObject({
    campaign: campaign.meta(ofCampaign),
    last: z.string().max(10_000).optional().meta({ description: 'The note of the newest head.' }),
    newLog: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,40}$/, 'must be 1 to 40 letters, digits, dots, _ and -')
      .optional()
      .meta({ description: 'Instead of `last`: the name of a new log.' }),
  })
  .meta({ id: 'StatementPatch' });
export type StatementResume = z.infer<typeof statementResume>;
