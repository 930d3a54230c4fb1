import { z } from 'zod';
import { labels, recordName } from '../../domain/fields.ts';
import { hoursText, parseHours } from '../../domain/hours/hours-text.ts';
import { type ConfigBody, configBody } from '../../domain/records/config.ts';
import { venuePatch } from '../../domain/records/venue.ts';
import type { MediaFiles } from '../media/media-files.ts';
import { chosenBy } from '../options/chosen-by.ts';
import { hoursForm } from '../options/hours.ts';
import { playlistDocument } from '../playlist/playlist-document.ts';
import type { ScheduleBody } from '../schedule/schedule-document.ts';

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
  /** As `hoursText` writes them. */
  hours?: string | null | undefined;
  labels?: Readonly<Record<string, string>> | undefined;
  config?: ConfigBody | null | undefined;
  playlist?: SitePlaylist | null | undefined;
  /** Of venues and screens. Instants are in Unix epoch seconds. */
  schedule?: SiteSchedule | null | undefined;
}

/** A schedule in the form in which the service takes it, and answers it. */
export type SiteSchedule = ScheduleBody;

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
  /** The media files that playlists name. */
  media: MediaFiles;
}

/** A playlist or schedule in its own JSON or YAML file, relative to the folder of the site file. */
const namedFile = z.strictObject({
  file: z.string('must be the path of a file').min(1, 'must be the path of a file'),
});

export type PlaylistPlace = SitePlaylist | z.infer<typeof namedFile>;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const playlistName = z
  .string('must be the name of a playlist under "playlists", { file: … }, { items: […] }, or null')
  .nullish();

/** A schedule in a file of its own, or written here: `read-site.ts` checks it. */
const schedulePlace = chosenBy<{ file: string } | { entries: unknown } | null | undefined>(
  (value) =>
    isObject(value)
      ? 'file' in value
        ? namedFile
        : z.strictObject({ entries: z.unknown() })
      : z.null('must be { entries: […] }, { file: … }, or null').optional(),
).optional();

const config = configBody.nullable().optional();
const hours = z
  .string()
  .transform((text, context) => {
    const parsed = parseHours(text);
    if (parsed) return hoursText(parsed);
    context.issues.push({
      code: 'custom',
      message: `must be such as ${hoursForm}, or always`,
      input: text,
    });
    return z.NEVER;
  })
  .nullish();
const allLabels = labels
  .nullable()
  .optional()
  .transform((map) => (map === null ? {} : map));

/**
 * Returns the schema of one document of a site file, format 1 (docs/site-files.md). Durations start
 * at `nowMs`.
 */
export function siteDocument(nowMs: number) {
  const playlistBody = playlistDocument(nowMs);
  const playlistPlace = chosenBy<PlaylistPlace>((value) =>
    isObject(value) && 'file' in value ? namedFile : playlistBody,
  );
  const playlistOfScreen = chosenBy<PlaylistPlace | string | null | undefined>((value) =>
    isObject(value) ? playlistPlace : playlistName,
  );
  const screen = z.strictObject(
    {
      name: recordName,
      hours,
      labels: allLabels,
      config,
      playlist: playlistOfScreen.optional(),
      schedule: schedulePlace,
    },
    'must be a screen: { name: … }',
  );
  const venue = z.strictObject(
    {
      name: recordName,
      address: venuePatch.shape.address,
      timezone: venuePatch.shape.timezone,
      hours,
      labels: allLabels,
      config,
      schedule: schedulePlace,
      screens: z.array(screen, 'must be a list of screens').default([]),
    },
    'must be a venue: { name: … }',
  );
  return z.strictObject(
    {
      version: z.literal(1, 'must be 1, the version of this format'),
      tenant: z
        .strictObject(
          { name: recordName.optional(), config },
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
}

export type SiteDocument = z.output<ReturnType<typeof siteDocument>>;
