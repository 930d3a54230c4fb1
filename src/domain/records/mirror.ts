import { z } from 'zod';
import { isoTime, recordId } from '../fields.ts';
import { listOf, pageQuery } from '../paging.ts';

const copyStates = ['ok', 'tombstone', 'missing', 'stale', 'newer', 'damaged'] as const;
export type CopyState = (typeof copyStates)[number];
const state = z.enum(copyStates, { error: `must be one of ${copyStates.join(', ')}` });

export const mirrorQuery = z.strictObject({
  ...pageQuery,
  venueId: recordId.optional(),
  state: state.optional(),
});
export type MirrorQuery = z.infer<typeof mirrorQuery>;

/** How the copy of a screen's playlist in the object store stands (docs/protocol.md §5.4). */
const mirrorCopy = z
  .object({
    screenId: recordId,
    venueId: recordId,
    screenName: z.string(),
    version: z
      .int()
      .nullable()
      .meta({ description: 'the newest version that the store has; null when it has none' }),
    copiedVersion: z.int().nullable().meta({
      description: 'the version of the copy; null when there is none, or none that can be read',
    }),
    state: state.meta({ description: 'ok and tombstone are as they should be' }),
    queuedAt: isoTime
      .nullable()
      .meta({ description: 'since when the copy is waiting to be made; null when it is not' }),
  })
  .meta({ id: 'MirrorCopy' });
export type MirrorCopyView = z.infer<typeof mirrorCopy>;

export const mirrorList = listOf(mirrorCopy);

export const mirrorRepair = z
  .object({
    queued: z.int().min(0).meta({
      description: 'screens whose copies will be looked at, and mended where they differ',
    }),
  })
  .meta({ id: 'MirrorRepair' });
export type MirrorRepair = z.infer<typeof mirrorRepair>;
