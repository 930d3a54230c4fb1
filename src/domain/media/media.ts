import { z } from 'zod';
import { isoTime, recordName } from '../fields.ts';
import { booleanQuery, nameQuery, pageQuery } from '../paging.ts';
import { type MediaType, mediaTypeNames, mediaTypes } from './media-types.ts';

const hash = /^[0-9a-f]{64}$/;

/** The SHA-256 of a file, which is its id. */
const mediaId = z
  .string()
  .regex(hash, 'must be the SHA-256 of the file, as 64 lower-case hex digits')
  .meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' });

export const isMediaId = (text: string): boolean => hash.test(text);

/** The largest size of a file that an option may allow: 64 GiB. */
const maxFileBytes = 64 * 1024 ** 3;

function bytesInQuery(min: number, message: string) {
  return z.preprocess(
    (text) => (typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined),
    z.number('must be a whole number, in digits only').int().min(min, message).max(maxFileBytes),
  );
}

export const mediaUploadQuery = z
  .strictObject({
    name: recordName.optional().meta({
      description:
        'A name for people, such as that of the file. Default: the beginning of the id. A file that the tenant has keeps its name.',
    }),
    offset: bytesInQuery(0, 'must not be negative').optional().meta({
      description: 'The body is a part of the file that begins here. Needs `size`.',
      type: 'integer',
    }),
    size: bytesInQuery(1, 'must be more than 0').optional().meta({
      description: 'The size of the whole file in bytes. Needs `offset`.',
      type: 'integer',
    }),
  })
  .refine(
    ({ offset, size }) => (offset === undefined) === (size === undefined),
    'offset and size need each other',
  );

export const mediaQuery = z.strictObject({ ...pageQuery, ...nameQuery });
export type MediaQuery = z.infer<typeof mediaQuery>;

export const mediaDeletionQuery = z.strictObject({
  force: booleanQuery
    .optional()
    .meta({ description: 'Also deletes a file that playlists name. Needs the whole tenant.' }),
});

export const backupQuery = z.strictObject({
  withMedia: booleanQuery
    .optional()
    .meta({ description: 'Also backs up the bytes of media files, not only their records.' }),
});

export const media = z
  .object({
    id: mediaId,
    name: z.string(),
    type: z.enum(mediaTypeNames),
    bytes: z.int().min(1),
    url: z.string().meta({
      description: 'The path of the file on the service, for `creativeUrl`',
      example: '/media/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.png',
    }),
    usedBy: z.int().min(0).meta({ description: 'Number of screens whose playlists name it' }),
    createdAt: isoTime,
  })
  .meta({ id: 'Media' });
export type MediaView = z.infer<typeof media>;

/** The state of an upload in parts. */
export const mediaUpload = z
  .object({ received: z.int().min(0).meta({ description: 'Bytes received, from the start' }) })
  .meta({ id: 'MediaUpload' });
export type MediaUpload = z.infer<typeof mediaUpload>;

/** Form of the path of a file on the service. */
const mediaPathForm = new RegExp(
  `^/media/([0-9a-f]{64})\\.(?:${Object.values(mediaTypes)
    .map(({ extension }) => extension)
    .join('|')})$`,
);

/** Returns the id of the file that a path names, or `undefined` for any other text. */
export function mediaIdOf(path: unknown): string | undefined {
  return typeof path === 'string' ? mediaPathForm.exec(path)?.[1] : undefined;
}

/** Returns the path of a file on the service, which is also its stored form in playlists. */
export function mediaPath(id: string, type: MediaType): string {
  return `/media/${id}.${mediaTypes[type].extension}`;
}

/** A range of bytes of a file, both ends included. */
export interface ByteRange {
  start: number;
  end: number;
}
