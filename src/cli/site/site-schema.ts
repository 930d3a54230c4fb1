import { z } from 'zod';
import { epochMs, labels, storedName } from '../../domain/fields.ts';
import { type ConfigBody, configBody } from '../../domain/records/config.ts';
import { publication } from '../../domain/records/playlist.ts';
import { venuePatch } from '../../domain/records/venue.ts';

/** A playlist in the form in which it is published. */
export interface SitePlaylist {
  items: readonly object[];
  /** Unix epoch seconds, or `null` for no end. */
  validUntil: number | null;
}

/**
 * Attributes of a record. `undefined` means that the attribute is not compared, `null` that it is
 * absent.
 */
export interface Attributes {
  name?: string | undefined;
  address?: string | null | undefined;
  timezone?: string | null | undefined;
  /** All labels of the record. */
  labels?: Readonly<Record<string, string>> | undefined;
  config?: ConfigBody | null | undefined;
  playlist?: SitePlaylist | null | undefined;
}

export type AttributeName = keyof Attributes;

/** Attributes of a record in a site file. */
export type NamedAttributes = Attributes & { name: string };

export interface SiteVenue extends NamedAttributes {
  screens: readonly NamedAttributes[];
}

/** All site files merged, with playlist references resolved. */
export interface Site {
  /** Set if a file has a `tenant` entry: the files then name all venues. */
  tenant: Pick<Attributes, 'name' | 'config'> | undefined;
  venues: readonly SiteVenue[];
}

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

/**
 * Returns a schema that validates each value with the schema that `choose` returns for this value.
 * Avoids `z.union`, because zod reports little about a failed union.
 */
function chosenBy<T>(choose: (value: unknown) => z.ZodType<T>) {
  return z.unknown().transform((value, context): T => {
    const result = choose(value).safeParse(value);
    if (result.success) return result.data;
    for (const issue of result.error.issues)
      context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
    return z.NEVER;
  });
}

const playlistPlace = chosenBy<PlaylistPlace>((value) =>
  isMap(value) && Object.hasOwn(value, 'file') ? playlistFile : playlistBody,
);

const playlistName = z
  .string('must be the name of a playlist under "playlists", { file: … }, { items: […] }, or null')
  .nullish();
const playlistOfScreen = chosenBy<PlaylistPlace | string | null | undefined>((value) =>
  isMap(value) ? playlistPlace : playlistName,
);

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
