import { z } from 'zod';
import { mediaTypeNames } from './media-types.ts';

/** The rows of media. See `records/rows.ts` for their form. */
const text = z.string();
const time = z.number();

/** A file that a tenant has uploaded. `id` is `<tenant id>/<file id>`. */
export const mediaRow = z.strictObject({
  id: text,
  tenantId: text,
  /** SHA-256 of the bytes, in hex. Tenants with equal files share the bytes. */
  fileId: text,
  name: text,
  type: z.enum(mediaTypeNames),
  bytes: z.number(),
  /** Tokens bound to venues that have uploaded the file, and may see it for that. */
  tokenIds: z.array(text).readonly(),
  createdAt: time,
});
export type Media = z.infer<typeof mediaRow>;

/** What the media of a tenant take. `id` is the id of the tenant. */
export const mediaUsageRow = z.strictObject({ id: text, files: z.number(), bytes: z.number() });
export type MediaUsage = z.infer<typeof mediaUsageRow>;

/** The files that the items of a content name (`contentRow`). `id` is the id of the content. */
export const contentMediaRow = z.strictObject({
  id: text,
  tenantId: text,
  /** Ids of files, once each. */
  mediaIds: z.array(text).readonly(),
});
export type ContentMedia = z.infer<typeof contentMediaRow>;

/**
 * The contents with files that the kept versions of a screen name. `id` is the id of the screen.
 */
export const screenContentsRow = z.strictObject({
  id: text,
  /** Once each, with the last version that names it. */
  contents: z.array(z.strictObject({ id: text, version: z.number() })).readonly(),
});
export type ScreenContents = z.infer<typeof screenContentsRow>;

/**
 * A file that a screen or the screens of a venue use, as version 0.1.0 noted it. `id` is
 * `<owner id>/<file id>` for a playlist, and `layers/<owner id>/<file id>` for a schedule or
 * takeover.
 */
export const mediaUseRow = z.strictObject({
  id: text,
  /** Id of the record of the file. */
  mediaId: text,
  level: z.enum(['screen', 'venue']),
  ownerId: text,
  /** The last version of the playlist that names the file. `null`: the layers name it. */
  version: z.number().nullable(),
});
export type MediaUse = z.infer<typeof mediaUseRow>;

/**
 * A file in the media store that no record names: its last record was deleted, or its upload is
 * about to end. `id` is the id of the file.
 */
export const unusedMediaRow = z.strictObject({
  id: text,
  since: time,
  /** Whether its deletion has begun, so that an upload of the same bytes must wait. */
  isBeingDeleted: z.boolean(),
});
export type UnusedMedia = z.infer<typeof unusedMediaRow>;
