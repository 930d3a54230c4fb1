import { z } from 'zod';
import { dayMs } from '../clock.ts';
import { displayName, epochTime, freeText, lineOfText, recordId } from '../fields.ts';
import { layerNames } from '../layers/layer-names.ts';
import { mediaIdOf } from '../media/media.ts';
import type { Playlist } from '../records/rows.ts';
import { canonicalMediaUrl, maxMediaUrl, mediaUrlFault } from './media-url.ts';

const playlistStatuses = ['active', 'superseded', 'withdrawn', 'expired'] as const;
export type PlaylistStatus = (typeof playlistStatuses)[number];

const creativeTypes = ['image', 'video', 'html'] as const;

const tooLong = `must have at most ${maxMediaUrl} characters`;

/**
 * A URL of a TV, converted to its canonical form. The maximum length applies to both forms
 * (docs/protocol.md §5.4).
 */
const urlWithout = (faultOf: (input: string) => string | undefined) =>
  z
    .string('must be an http or https URL')
    .max(maxMediaUrl, { error: tooLong, abort: true })
    .superRefine((input, context) => {
      const message = faultOf(input);
      if (message !== undefined)
        context.addIssue({ code: 'custom', message, input, continue: false });
    })
    .overwrite(canonicalMediaUrl)
    .max(maxMediaUrl, tooLong);

const mediaUrl = urlWithout((input) =>
  mediaIdOf(input) === undefined ? mediaUrlFault(input) : undefined,
).meta({
  description:
    'An http or https URL, stored in the form that a WHATWG URL parser produces. Or the path of a file of the service, `/media/<id>.<extension>`, which TVs get as an absolute URL.',
  format: 'uri-reference',
  pattern: '^(?:[hH][tT][tT][pP][sS]?:|/media/[0-9a-f]{64})',
  example: 'https://media.example.com/spring.mp4',
});

const itemMembers = {
  creativeId: recordId,
  creativeUrl: mediaUrl,
  creativeType: z.enum(creativeTypes, { error: `must be one of ${creativeTypes.join(', ')}` }),
  duration: z
    .number('must be a number of seconds')
    .positive('must be more than 0 seconds')
    .max(86_400, 'must be at most 86400 seconds')
    .meta({ description: 'seconds', example: 15 }),
  name: freeText(200).optional().meta({ description: 'A name for people' }),
  size: z.int('must be a whole number of bytes').min(0, 'must not be negative').optional().meta({
    description: 'bytes of the file',
  }),
  sha256: z
    .string('must be a string')
    .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits')
    .optional(),
  storage: z.boolean('must be true or false').optional().meta({
    description:
      'For `html`: whether the page keeps its origin, and so its cookies and storage. Default: false.',
  }),
};

/**
 * One entry of a playlist. Unknown members are passed to the TV unchanged (docs/protocol.md §2.3).
 */
const playlistItem = z.looseObject(itemMembers, 'must be an object').meta({ id: 'PlaylistItem' });

export const campaignName = displayName(80);

/** An item that a manager publishes. What TVs report of it, the service accepts. */
const publishedItem = z
  .looseObject(
    {
      ...itemMembers,
      name: lineOfText(200).optional().meta({ description: 'A name for people' }),
      campaign: campaignName.optional().meta({
        description:
          'The name of the campaign, whose plays count as impressions. `campaignId` follows from it.',
        example: 'summer',
        maxLength: 80,
      }),
      campaignId: z
        .guid('must be a UUID; a name belongs into campaign, such as campaign: summer')
        .nullish()
        .meta({ description: 'Default: follows from `campaign`.' }),
      subtitles: urlWithout(mediaUrlFault).optional().meta({
        description: 'For `video`: the URL of its subtitles, a WebVTT file.',
        format: 'uri',
        example: 'https://media.example.com/spring.de.vtt',
      }),
    },
    'must be an object',
  )
  .meta({ id: 'PlaylistItemInput' });

const itemCount = 'must have 1 to 500 items';
const itemsOf = <I extends z.ZodType>(item: I) =>
  z.array(item, 'must be an array of 1 to 500 items').min(1, itemCount).max(500, itemCount);

/** Items from origins that take their answers from elsewhere. */
export const suppliedItems = itemsOf(playlistItem);
export const playlistItems = itemsOf(publishedItem);

export const publication = z
  .strictObject({
    items: playlistItems,
    validUntil: epochTime.nullish().meta({
      description: 'Unix epoch seconds, in the future. Default, also for null: no end.',
      example: 4_102_444_800,
    }),
  })
  .meta({ id: 'Publication' });
export type Publication = z.infer<typeof publication>;

/** Writes absolute URLs of the service's own files as their paths, which stay valid if it moves. */
export function withStoredUrls<C extends Partial<Pick<Publication, 'items'>>>(
  content: C,
  baseUrl: string,
): C {
  const items = content.items?.map((item) => {
    if (!item.creativeUrl.startsWith(`${baseUrl}/`)) return item;
    const path = item.creativeUrl.slice(baseUrl.length);
    return mediaIdOf(path) === undefined ? item : { ...item, creativeUrl: path };
  });
  return items ? { ...content, items } : content;
}

/**
 * Response of an on-demand source: a whole playlist, or only its items. Unknown members are ignored
 * (docs/on-demand.md).
 */
export const onDemandAnswer = z.looseObject({
  items: suppliedItems,
  validUntil: epochTime.nullish(),
  screenId: recordId.optional(),
  status: z.enum(playlistStatuses).optional(),
});

const members = {
  id: recordId,
  tenantId: recordId,
  screenId: recordId,
  status: z.enum(playlistStatuses),
  version: z.int().min(1),
  validUntil: z.int().meta({ description: 'Unix epoch seconds', example: 1760000000 }),
  items: z.array(playlistItem),
};

const upcomingSpan = z.object({
  from: z.int().meta({ description: 'Unix epoch seconds' }),
  until: z.int().meta({ description: 'Unix epoch seconds' }),
  entryId: z.string().nullable().meta({ description: '`null`: `base`' }),
});

const lowerLayer = z.object({
  layer: z.enum(layerNames),
  entryId: z.string().nullable(),
  items: z.array(playlistItem),
});

/** The playlist as sent to TVs. */
export const activePlaylist = z
  .object({
    ...members,
    entryId: z.string().nullable().optional().meta({
      description: 'The entry of a schedule, or `takeover`. `null`: the playlist of the screen.',
    }),
    upcoming: z.array(upcomingSpan).optional().meta({
      description: 'What plays when, from now on. At a time without a span, nothing plays.',
    }),
    entries: z.record(z.string(), z.array(playlistItem)).optional().meta({
      description: 'The items of all entries that `upcoming` names.',
    }),
    base: z.array(playlistItem).optional().meta({
      description: 'The items of spans whose `entryId` is null.',
    }),
    below: lowerLayer.extend({ below: lowerLayer.optional() }).optional().meta({
      description:
        'The layer beneath a takeover or an entry. A TV plays it if all of `items` fails.',
    }),
  })
  .meta({ id: 'ActivePlaylist' });

/** The playlist in the management API: `validUntil` is `null` if the publisher gave none. */
export const storedPlaylist = z
  .object({ ...members, validUntil: members.validUntil.nullable() })
  .meta({ id: 'Playlist' });
export type PlaylistView = z.infer<typeof storedPlaylist>;

export const isPlaying = z.boolean().meta({
  description: 'Whether TVs play it now. `false`: a schedule or takeover is above it.',
});

/** The answer to a publication. */
export const publishedPlaylist = storedPlaylist
  .extend({ playing: isPlaying })
  .meta({ id: 'PublishedPlaylist' });
export type PublishedPlaylist = z.infer<typeof publishedPlaylist>;

export const playlistVersions = z
  .object({ items: z.array(storedPlaylist), nextCursor: z.string().nullable() })
  .meta({ id: 'PlaylistVersions' });

/** Result of a call of the on-demand source (docs/protocol.md §5.4). */
export const playlistRefresh = z
  .object({
    version: z.int().min(1).meta({ description: 'the version that TVs get now' }),
    changed: z.boolean().meta({ description: 'whether TVs got another version before' }),
  })
  .meta({ id: 'PlaylistRefresh' });
export type PlaylistRefresh = z.infer<typeof playlistRefresh>;

/** Number of versions kept per screen, including the newest. */
export const keptVersions = 20;

const yearMs = 365 * dayMs;

export function playlistStatusAt(
  playlist: Pick<Playlist, 'state' | 'validUntil'>,
  nowMs: number,
): PlaylistStatus {
  return playlist.state === 'active' && playlist.validUntil !== null && playlist.validUntil <= nowMs
    ? 'expired'
    : playlist.state;
}

/**
 * Returns the `validUntil` for TVs, in milliseconds. A playlist without one is valid for 365 days
 * from its publication, extended by 365 days whenever fewer than 180 are left. TVs that are offline
 * thus keep playing, and the ETag rarely changes (docs/protocol.md §2.3).
 */
export function servedValidUntil(
  playlist: Pick<Playlist, 'validUntil' | 'publishedAt'>,
  nowMs: number,
): number {
  if (playlist.validUntil !== null) return playlist.validUntil;
  const first = playlist.publishedAt + yearMs;
  const missing = nowMs + 180 * dayMs - first;
  return missing <= 0 ? first : first + Math.ceil(missing / yearMs) * yearMs;
}

/** As `servedValidUntil`, in Unix epoch seconds, as TVs get it. */
export function servedValidUntilSeconds(
  playlist: Pick<Playlist, 'validUntil' | 'publishedAt'>,
  nowMs: number,
): number {
  return Math.floor(servedValidUntil(playlist, nowMs) / 1000);
}
