import { z } from 'zod';
import { isoTime, recordId } from '../fields.ts';
import { pageQuery, timeRangeQuery, waitSeconds } from '../paging.ts';
import { noticeTypes } from './notice-types.ts';

export const noticeData = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
);
export type NoticeData = z.infer<typeof noticeData>;

export const notice = z
  .object({
    id: recordId,
    at: isoTime,
    type: z.string().meta({ example: 'screen.dark' }),
    venueId: recordId.nullable(),
    screenId: recordId.nullable(),
    deviceId: recordId.nullable(),
    data: noticeData.meta({
      description: 'Names of the venue and the screen, and what the type has in addition.',
    }),
  })
  .meta({ id: 'Notice' });
export type NoticeView = z.infer<typeof notice>;

export const noticeQuery = z.strictObject({
  ...pageQuery,
  type: z
    .enum(noticeTypes, { error: `must be one of ${noticeTypes.join(', ')}` })
    .optional()
    .meta({ description: 'Only notices of this type.' }),
  ...timeRangeQuery,
  order: z
    .enum(['asc', 'desc'], { error: 'must be asc or desc' })
    .default('desc')
    .meta({ description: '`asc` is oldest first.' }),
  after: recordId
    .optional()
    .meta({ description: 'With `order=asc`: only notices after this notice, by its id.' }),
  waitSeconds,
});
export type NoticeQuery = z.infer<typeof noticeQuery>;
