import { z } from 'zod';
import { isoTime, recordId } from '../fields.ts';
import { pageQuery, selectorQuery } from '../paging.ts';
import { device } from './device.ts';
import { storedPlaylist } from './playlist.ts';
import { screen } from './screen.ts';

export const screenStatusQuery = z.strictObject({
  ...pageQuery,
  venueId: recordId.optional().meta({ description: 'Only the screens of this venue.' }),
  selector: selectorQuery,
});
export type ScreenStatusQuery = z.infer<typeof screenStatusQuery>;

const { version, status, validUntil } = storedPlaylist.shape;

/** A screen with its device and its newest playlist, as of `at` (docs/protocol.md §5.3). */
export const screenStatus = z
  .object({
    at: isoTime.meta({
      description: 'Current time of the service. Compare the other times with it.',
    }),
    venueName: z.string(),
    screen,
    device: device.nullable().meta({ description: 'The bound device.' }),
    playlist: z
      .object({ version, status, publishedAt: isoTime, validUntil })
      .nullable()
      .meta({ description: 'The newest version; `null` if there was never one.' }),
  })
  .meta({ id: 'ScreenStatus' });
export type ScreenStatusView = z.infer<typeof screenStatus>;
