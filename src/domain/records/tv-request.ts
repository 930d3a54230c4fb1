import { z } from 'zod';
import { isoTime, recordId } from '../fields.ts';
import { booleanQuery, pageQuery, timeRangeQuery } from '../paging.ts';

/** One request of a TV and its answer (docs/protocol.md §5.12). */
export const tvRequest = z
  .object({
    id: recordId,
    at: isoTime.meta({ description: 'When it was answered.' }),
    operation: z.string().meta({ example: 'getPlaylist' }),
    status: z
      .int()
      .nullable()
      .meta({ description: 'null if a fault rule dropped the request.', example: 401 }),
    code: z.string().nullable().meta({ description: 'The error code; null without an error.' }),
    detail: z.string().nullable().meta({ description: 'The detail of the problem document.' }),
    faults: z.array(z.string()).meta({ description: 'The fault rules that applied.' }),
    deviceId: recordId.nullable().meta({ description: 'The device of the key; null if unknown.' }),
    screenId: recordId,
    requestId: z.string(),
  })
  .meta({ id: 'TvRequest' });
export type TvRequestView = z.infer<typeof tvRequest>;

export const tvRequestQuery = z.strictObject({
  ...pageQuery,
  screenId: recordId.optional().meta({ description: 'Only requests about this screen.' }),
  deviceId: recordId.optional().meta({ description: 'Only requests of this device.' }),
  refused: booleanQuery.optional().meta({
    description: 'true: only requests answered with an error, or not at all. false: the others.',
  }),
  ...timeRangeQuery,
});
export type TvRequestQuery = z.infer<typeof tvRequestQuery>;
