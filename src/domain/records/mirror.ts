import { z } from 'zod';
import { isoTime, recordId } from '../fields.ts';
import { listOf, pageQuery } from '../paging.ts';

const copyStates = ['ok', 'tombstone', 'missing', 'stale', 'newer', 'damaged'] as const;
export type CopyState = (typeof copyStates)[number];
const state = z.enum(copyStates, { error: `must be one of ${copyStates.join(', ')}` });

export const mirrorQuery = z.strictObject({
  ...pageQuery,
  venueId: recordId.optional().meta({ description: 'Only the copies of this venue.' }),
  state: state.optional().meta({ description: 'Only copies in this state.' }),
});
export type MirrorQuery = z.infer<typeof mirrorQuery>;

/** State of the copy of a screen's playlist in the object store (docs/protocol.md §5.4). */
const mirrorCopy = z
  .object({
    screenId: recordId,
    venueId: recordId,
    screenName: z.string(),
    version: z
      .int()
      .nullable()
      .meta({ description: 'the newest version in the store; null if it has none' }),
    copiedVersion: z.int().nullable().meta({
      description: 'the version of the copy; null if it is missing or unreadable',
    }),
    state: state.meta({ description: 'ok and tombstone are the correct states' }),
    queuedAt: isoTime.nullable().meta({
      description: 'since when the copy has been waiting to be written; null if it is not waiting',
    }),
  })
  .meta({ id: 'MirrorCopy' });
export type MirrorCopyView = z.infer<typeof mirrorCopy>;

export const mirrorList = listOf(mirrorCopy);

export const mirrorRepair = z
  .object({
    queued: z.int().min(0).meta({
      description: 'screens whose copies will be checked, and repaired if they differ',
    }),
  })
  .meta({ id: 'MirrorRepair' });
export type MirrorRepair = z.infer<typeof mirrorRepair>;
