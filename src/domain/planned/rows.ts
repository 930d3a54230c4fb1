import { z } from 'zod';
import { screenRow, venueRow } from '../records/rows.ts';
import { layersRow } from '../schedule/rows.ts';

/** The rows of the past from which coverage follows. See `records/rows.ts` for their form. */
const text = z.string();
const time = z.number();

const screenInputs = screenRow
  .pick({ deviceId: true, hours: true, hoursExceptions: true })
  .extend({ /** Whether the bound device was simulated. */ simulated: z.boolean() });
const venueInputs = venueRow.pick({ timezone: true, hours: true, hoursExceptions: true });
const layersInputs = layersRow.pick({ schedule: true, takeover: true });
const playlistInputs = z
  .strictObject({
    /** `null`: of the on-demand source, whose contents are not kept. */
    contentId: text.nullable(),
    validUntil: time.nullable(),
  })
  .nullable();

/**
 * What decided what was due on screens, until it changed. It has one of the members of `inputsRow`.
 * `ownerId` is a screen or a venue; for `deleted`, it is the tenant.
 */
export const pastInputsRow = z.strictObject({
  id: text,
  tenantId: text,
  ownerId: text,
  /** Orders the changes. */
  stamp: time,
  /** By the clock of the change, which may have been ahead, or set back since the one before. */
  until: time,
  screen: screenInputs.optional(),
  venue: venueInputs.optional(),
  layers: layersInputs.optional(),
  /** `null`: none was active. */
  playlist: playlistInputs.optional(),
  /** A screen that was deleted. */
  deleted: screenRow.pick({ id: true, venueId: true, createdAt: true }).optional(),
});
export type PastInputs = z.infer<typeof pastInputsRow>;
export type ScreenInputs = z.infer<typeof screenInputs>;
export type VenueInputs = z.infer<typeof venueInputs>;
export type LayersInputs = z.infer<typeof layersInputs>;
export type PlaylistInputs = z.infer<typeof playlistInputs>;

/** The items of a content that no version names any more. Durations are in seconds. */
export const loopRow = z.strictObject({
  id: text,
  tenantId: text,
  until: time,
  items: z
    .array(
      z.strictObject({
        creativeId: text,
        campaignId: text.optional(),
        duration: z.number(),
      }),
    )
    .readonly(),
});
export type LoopItem = z.infer<typeof loopRow>['items'][number];
