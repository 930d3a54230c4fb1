import { z } from 'zod';
import { isoTime, recordId } from '../fields.ts';
import { layerNames } from '../layers/layer-names.ts';
import { layerStates } from '../layers/layer-state.ts';
import { countUpTo, listOf, pageQuery, selectorQuery } from '../paging.ts';
import { storedPlaylist } from '../playlists/playlist.ts';
import { device } from '../records/device.ts';
import { screen } from '../records/screen.ts';
import { conditions } from './condition.ts';

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
const screenStatus = z
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
        layer: z.enum(layerNames).nullable().optional().meta({
          description: 'The layer that the item belongs to; `null`: unknown.',
        }),
        entryId: z.string().nullable().optional(),
      })
      .nullable()
      .meta({
        description:
          'The item that was visible last on a screen that plays: the end of its play, or its first frame after a switch. Members of the item are `null` if the TV was not given it.',
      }),
    layer: z
      .object({
        name: z.enum(layerNames),
        entryId: z.string().nullable(),
        state: z.enum(layerStates).meta({
          description:
            'Whether it is on the screen. `given`: the TV has it, and does not report what it shows.',
        }),
        since: isoTime.nullable().meta({
          description: 'Since when it is in this state, or due; `null`: unknown.',
        }),
      })
      .nullable()
      .optional()
      .meta({ description: 'The layer that is due; `null`: none is, or no TV calls.' }),
    clock: z
      .object({ offsetSeconds: z.int() })
      .nullable()
      .meta({ description: 'Set if the clock of the TV is off by more than 2 minutes.' }),
    muted: z.object({ since: isoTime }).nullable().optional().meta({
      description: 'Set if the TV plays without the sound that its config asks for.',
    }),
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
export const screenStatusList = listOf(screenStatus).extend({
  restoredWebhooks: z.int().optional().meta({
    description: 'Number of webhooks that are paused because a backup was restored.',
  }),
});
export type ScreenStatusView = z.infer<typeof screenStatus>;
