import { z } from 'zod';
import { labels, recordName } from '../../../domain/fields.ts';
import { type ConfigBody, configInput } from '../../../domain/records/config.ts';
import { screenPatch } from '../../../domain/records/screen.ts';
import { venuePatch } from '../../../domain/records/venue.ts';
import { chosenBy } from '../../content/chosen-by.ts';
import type { MediaFiles } from '../../content/media-files.ts';
import { type LocalEnd, localPlaylistDocument } from '../../content/playlist-document.ts';
import { mistakeOfForm, type ScheduleBody } from '../../content/schedule-document.ts';
import { membersOf, type PlaceKind, type PlaceTexts } from '../../records/place-members.ts';

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
export interface Attributes extends PlaceTexts {
  name?: string | undefined;
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

/** A playlist whose end may be local time of the venue. */
export type LocalPlaylist = Omit<SitePlaylist, 'validUntil'> & {
  validUntil: SitePlaylist['validUntil'] | LocalEnd;
};

export type PlaylistPlace = LocalPlaylist | z.infer<typeof namedFile>;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const playlistName = z
  .string('must be the name of a playlist under "playlists", { file: … }, { items: […] }, or null')
  .nullish();

const writtenSchedule = z.custom<object>(isObject).superRefine((value, context) => {
  const [path, message] = mistakeOfForm(value) ?? [];
  if (path) context.addIssue({ code: 'custom', path: [...path], message });
});

export type SchedulePlace = z.infer<typeof namedFile> | object;

/** A schedule in a file of its own, or written here: `read-site.ts` checks it. */
const schedulePlace = chosenBy<SchedulePlace | null | undefined>((value) =>
  isObject(value)
    ? 'file' in value
      ? namedFile
      : writtenSchedule
    : z.null('must be { entries: […] }, { file: … }, or null').optional(),
).optional();

const config = configInput.nullable().optional();
/** Returns the schemas of the members that are written as text. */
function textMembers(kind: PlaceKind) {
  const { shape } = kind === 'venue' ? venuePatch : screenPatch;
  return Object.fromEntries(
    membersOf(kind).map(([name, { read }]) => {
      if (!read) return [name, (shape as Readonly<Record<string, z.ZodType>>)[name] as z.ZodType];
      const text = z.string().transform((input, context) => {
        const result = read(input);
        if ('text' in result) return result.text;
        context.issues.push({ code: 'custom', message: result.mistake, input });
        return z.NEVER;
      });
      return [name, text.nullish()];
    }),
  ) as Record<keyof PlaceTexts, z.ZodType<string | null | undefined>>;
}

const allLabels = labels
  .nullable()
  .optional()
  .transform((map) => (map === null ? {} : map));

/**
 * Returns the schema of one document of a site file, format 1 (docs/site-files.md). Durations start
 * at `nowMs`.
 */
export function siteDocument(nowMs: number) {
  const playlistBody = localPlaylistDocument(nowMs);
  const playlistPlace = chosenBy<PlaylistPlace>((value) =>
    isObject(value) && 'file' in value ? namedFile : playlistBody,
  );
  const playlistOfScreen = chosenBy<PlaylistPlace | string | null | undefined>((value) =>
    isObject(value) ? playlistPlace : playlistName,
  );
  const screen = z.strictObject(
    {
      name: recordName,
      ...textMembers('screen'),
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
      ...textMembers('venue'),
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
