import { z } from 'zod';
import { isoTime, recordId } from '../fields.ts';

/**
 * Longest time for which TVs identify themselves, and the time for which a reload is announced, in
 * seconds (docs/protocol.md §2.9).
 */
export const maxSignalSeconds = 600;
const maxIds = 1000;

const text = z.string();
const time = z.number();

/**
 * What the TVs of a screen, or of all screens of a venue, were last asked to do. `id` is the level
 * and the id of that record, such as `venue/<id>`. Of the rows of a screen and its venue, the
 * latest counts. So both are kept as long as the longest one may last.
 */
export const signalsRow = z.strictObject({
  id: text,
  tenantId: text,
  /** TVs draw who they are until `until`. It is not after `at` if this was ended. */
  identify: z.strictObject({ id: text, at: time, until: time }).nullable(),
  reload: z.strictObject({ id: text, at: time }).nullable(),
});
export type Signals = z.infer<typeof signalsRow>;

const ids = z
  .array(recordId, 'must be an array of 1 to 1,000 ids')
  .min(1, 'must have 1 to 1,000 ids')
  .max(maxIds, 'must have 1 to 1,000 ids')
  .optional();

const selection = {
  screenIds: ids,
  venueIds: ids.meta({ description: 'All screens of these venues, instead of `screenIds`.' }),
};

const isOneSelection = (body: { screenIds?: unknown; venueIds?: unknown }) =>
  (body.screenIds === undefined) !== (body.venueIds === undefined);
const oneSelection = {
  path: ['screenIds'],
  message: 'is required, or else venueIds, but not both',
};

export const identifyInput = z
  .strictObject({
    ...selection,
    seconds: z
      .int('must be a whole number from 0 to 600')
      .min(0, 'must be a whole number from 0 to 600')
      .max(maxSignalSeconds, 'must be a whole number from 0 to 600')
      .meta({ description: 'How long TVs draw who they are. 0: they stop.', example: 60 }),
  })
  .refine(isOneSelection, oneSelection)
  .meta({ id: 'IdentifyInput' });
export type IdentifyInput = z.infer<typeof identifyInput>;

export const reloadInput = z
  .strictObject(selection)
  .refine(isOneSelection, oneSelection)
  .meta({ id: 'ReloadInput' });
export type SignalTargets = z.infer<typeof reloadInput>;

const announced = {
  since: isoTime,
  notFound: z.array(recordId).meta({ description: 'Ids without a screen or venue.' }),
};

export const identified = z
  .object({
    ...announced,
    identifyUntil: z.int().nullable().meta({ description: 'Unix epoch seconds; `null`: ended' }),
  })
  .meta({ id: 'Identified' });
export type Identified = z.infer<typeof identified>;

export const reloadAnnounced = z
  .object({ ...announced, reloadId: recordId })
  .meta({ id: 'ReloadAnnounced' });
export type ReloadAnnounced = z.infer<typeof reloadAnnounced>;
