import { z } from 'zod';
import { epochMs, labels, storedName } from '../../domain/fields.ts';
import { configBody } from '../../domain/records/config.ts';
import { publication } from '../../domain/records/playlist.ts';
import { venuePatch } from '../../domain/records/venue.ts';
import type { SitePlaylist } from './site.ts';

/** A playlist written in the site file, in the format of publications. */
export const playlistBody = publication.transform(
  ({ items, validUntil }): SitePlaylist => ({
    items,
    validUntil: validUntil == null ? null : Math.floor(epochMs(validUntil) / 1000),
  }),
);

/** A playlist in its own JSON or YAML file, relative to the folder of the site file. */
const playlistFile = z.strictObject({
  file: z.string('must be the path of a file').min(1, 'must be the path of a file'),
});

export type PlaylistPlace = SitePlaylist | z.infer<typeof playlistFile>;

const isMap = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Selects the schema by the form of the value, because zod reports little about a failed union. */
const playlistPlace = z.unknown().transform((value, context): PlaylistPlace => {
  const form = isMap(value) && Object.hasOwn(value, 'file') ? playlistFile : playlistBody;
  const result = form.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues)
    context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
  return z.NEVER;
});

const playlistOfScreen = z
  .unknown()
  .transform((value, context): PlaylistPlace | string | null | undefined => {
    if (value === null || value === undefined || typeof value === 'string') return value;
    if (isMap(value)) {
      const result = playlistPlace.safeParse(value);
      if (result.success) return result.data;
      for (const issue of result.error.issues)
        context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
      return z.NEVER;
    }
    context.addIssue({
      code: 'custom',
      message:
        'must be the name of a playlist under "playlists", { file: … }, { items: […] }, or null',
    });
    return z.NEVER;
  });

const config = configBody.nullable().optional();
const allLabels = labels
  .nullable()
  .optional()
  .transform((map) => (map === null ? {} : map));

const screen = z.strictObject(
  { name: storedName, labels: allLabels, config, playlist: playlistOfScreen.optional() },
  'must be a screen: { name: … }',
);

const venue = z.strictObject(
  {
    name: storedName,
    address: venuePatch.shape.address,
    timezone: venuePatch.shape.timezone,
    labels: allLabels,
    config,
    screens: z.array(screen, 'must be a list of screens').default([]),
  },
  'must be a venue: { name: … }',
);

/** One document of a site file, format 1 (docs/site-files.md). */
export const siteDocument = z.strictObject(
  {
    version: z.literal(1, 'must be 1, the version of this format'),
    tenant: z
      .strictObject(
        { name: storedName.optional(), config },
        'must be a map, such as { config: … } or {}',
      )
      .optional(),
    playlists: z
      .record(z.string(), playlistPlace, 'must be a map of playlists by their names')
      .default({}),
    venues: z.array(venue, 'must be a list of venues').default([]),
  },
  'must be a map with version: 1',
);

export type SiteDocument = z.output<typeof siteDocument>;
