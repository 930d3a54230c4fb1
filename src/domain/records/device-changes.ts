import { z } from 'zod';
import { waitSecondsUpTo } from '../paging.ts';

/** Longest hold. TVs find out how much their proxies allow (docs/protocol.md §2.9). */
const maxHoldSeconds = 600;

const cursor = z
  .string()
  .min(1, 'must have 1 to 64 characters')
  .max(64, 'must have 1 to 64 characters')
  .meta({ example: '9fJ2kQxZ0vYb3LwTn8sRcA' });

export const deviceChangesQuery = z.strictObject({
  after: cursor.optional().meta({
    description: 'The cursor of the previous answer. Without it, the answer comes at once.',
  }),
  waitSeconds: waitSecondsUpTo(maxHoldSeconds),
});

/**
 * The current playlist and config of a TV, as ETags, and what it should do now (docs/protocol.md
 * §2.9).
 */
export const deviceChanges = z
  .object({
    cursor,
    playlist: z
      .object({ version: z.int().min(1), etag: z.string() })
      .nullable()
      .meta({ description: '`null`: there is none' }),
    config: z.object({ etag: z.string() }),
    identifyUntil: z.int().optional().meta({
      description:
        'Unix epoch seconds by the `Date` of the answer. Until then, the TV draws who it is.',
    }),
    screen: z
      .object({ name: z.string(), venue: z.object({ name: z.string() }) })
      .optional()
      .meta({ description: 'With `identifyUntil`: where the TV hangs.' }),
    reloadId: z.string().optional().meta({
      description:
        'The player loads itself anew, unless the first answer after its start had the same.',
    }),
  })
  .meta({ id: 'DeviceChanges' });
export type DeviceChanges = z.infer<typeof deviceChanges>;
