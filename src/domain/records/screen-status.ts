import { z } from 'zod';
import { conditions } from '../conditions/condition.ts';
import { isoTime, recordId } from '../fields.ts';
import { countUpTo, pageQuery, selectorQuery } from '../paging.ts';
import { storedPlaylist } from '../playlists/playlist.ts';
import { device } from './device.ts';
import { screen } from './screen.ts';

/** A month. */
const maxDarkAfterSeconds = 31 * 86_400;

export const screenStatusQuery = z.strictObject({
  ...pageQuery,
  venueId: recordId.optional().meta({ description: 'Only the screens of this venue.' }),
  screenId: recordId.optional().meta({ description: 'Only this screen.' }),
  selector: selectorQuery,
  condition: z
    .enum(conditions, { error: `must be one of ${conditions.join(', ')}` })
    .optional()
    .meta({ description: 'Only screens in this condition. Pages may then have few items.' }),
  darkAfterSeconds: countUpTo(maxDarkAfterSeconds).optional().meta({
    description:
      'Seconds of silence after which a TV is dark. Default: twice the longest interval of its config.',
  }),
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
    condition: z.enum(conditions),
    since: isoTime.nullable().meta({ description: 'Since when; `null`: unknown.' }),
    reason: z
      .object({
        code: z.string().meta({ example: 'http_404' }),
        text: z.string().meta({ example: '"offer.mp4" from cdn.example.com fails: HTTP 404.' }),
      })
      .nullable()
      .meta({ description: 'Why the screen is not `playing`.' }),
    playing: z
      .object({
        creativeId: z.string().nullable(),
        name: z.string().nullable(),
        creativeUrl: z.string().nullable(),
        creativeType: z.string().nullable(),
        since: isoTime,
      })
      .nullable()
      .meta({
        description:
          'The last play of a screen that plays, and its end. Members of the item are `null` if its playlist no longer has it.',
      }),
    clock: z
      .object({ offsetSeconds: z.int() })
      .nullable()
      .meta({ description: 'Set if the clock of the TV is off by more than 2 minutes.' }),
    errors: z
      .array(
        z.object({
          creativeId: z.string().nullable(),
          name: z.string().nullable(),
          host: z.string().nullable(),
          reason: z.string(),
          since: isoTime,
          at: isoTime,
        }),
      )
      .meta({ description: 'The items that fail, at most 8, the newest error first.' }),
    screen,
    device: device.nullable().meta({ description: 'The bound device.' }),
    playlist: z
      .object({ version, status, publishedAt: isoTime, validUntil })
      .nullable()
      .meta({ description: 'The newest version; `null` if there was never one.' }),
  })
  .meta({ id: 'ScreenStatus' });
export type ScreenStatusView = z.infer<typeof screenStatus>;
