import type { FieldError } from '../../../domain/error.ts';
import { foldName } from '../../../domain/fold-name.ts';
import { MediaFiles } from '../../content/media-files.ts';
import { makeNamedFiles, makePlaylistFiles } from '../../content/named-files.ts';
import { parseSchedule } from '../../content/schedule-document.ts';
import type { MediaReading } from '../../examination/local-media.ts';
import { checkDocument } from '../../input/check-document.ts';
import { foundInput, readInput } from '../../input/input-file.ts';
import { usage } from '../../input/settings.ts';
import {
  invalidFile,
  type Path,
  parseDocuments,
  type SourceDocument,
} from '../../input/source-document.ts';
import { type ReadZone, readLocalEnd } from '../../input/time.ts';
import type { Environment } from '../../terminal/environment.ts';
import {
  type Attributes,
  type LocalPlaylist,
  type NamedAttributes,
  type PlaylistPlace,
  type SchedulePlace,
  type Site,
  type SiteDocument,
  type SitePlaylist,
  type SiteVenue,
  siteDocument,
} from './site-schema.ts';

/** Returns a function that reads playlists, written in the document or in files of their own. */
function makePlaylistPlaces(readFile: ReturnType<typeof makePlaylistFiles>) {
  return async (
    place: PlaylistPlace,
    document: SourceDocument,
    at: Path,
  ): Promise<LocalPlaylist | undefined> =>
    'items' in place ? place : readFile(place.file, document, [...at, 'file']);
}

/** Returns the zone that the file gives the venue. */
const zoneOfFile =
  (timezone: string | null | undefined): ReadZone =>
  async (_, text) => {
    if (timezone) return timezone;
    throw usage(` has no time zone: "${text}". Write its offset, or the timezone of the venue.`);
  };

/** Returns a function that makes each value once. */
function memoizeBy<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

/** Returns a function that reads schedules, written in the document or in files of their own. */
function makeSchedulePlaces(
  fieldErrors: FieldError[],
  media: MediaFiles,
  playlists: ReadonlyMap<string, LocalPlaylist | undefined>,
  options: { allowOutside: boolean; nowMs: number },
) {
  const readPlaylistFile = makePlaylistFiles(fieldErrors, media, options);
  // A file may be of venues with different zones.
  const readersOf = memoizeBy((timezone: string | null) =>
    makeNamedFiles('schedule', fieldErrors, options, (source) =>
      parseSchedule(source, media, readPlaylistFile, fieldErrors, zoneOfFile(timezone)),
    ),
  );
  const readNamed = async (name: string, document: SourceDocument, at: Path) => {
    if (!playlists.has(name))
      fieldErrors.push(
        document.complaint(at, `names the playlist "${name}", which is not under "playlists"`),
      );
    return playlists.get(name);
  };
  return async (
    place: SchedulePlace | null | undefined,
    document: SourceDocument,
    at: Path,
    timezone: string | null | undefined,
  ): Promise<Attributes['schedule']> => {
    if (place == null) return place;
    if ('file' in place) {
      const readFile = readersOf(timezone ?? null);
      return (await readFile(place.file, document, [...at, 'file']))?.body;
    }
    const within: SourceDocument = {
      ...document,
      value: place,
      oddNumbers: document.oddNumbers.flatMap(({ path, ...one }) =>
        at.every((part, depth) => part === path[depth])
          ? [{ ...one, path: path.slice(at.length) }]
          : [],
      ),
      complaint: (path, message) => document.complaint([...at, ...path], message),
      place: (path) => document.place([...at, ...path]),
      written: (path) => document.written([...at, ...path]),
    };
    const readZone = zoneOfFile(timezone);
    return (await parseSchedule(within, media, readNamed, fieldErrors, readZone))?.body;
  };
}

type ReadContext = Pick<Environment, 'io' | 'clock'> & MediaReading;

interface Read {
  source: SourceDocument;
  content: SiteDocument;
}

/** Returns a check that reports the second and later uses of a key. */
function makeDuplicateCheck(fieldErrors: FieldError[]) {
  const seen = new Map<string, () => string>();
  return (key: string, source: SourceDocument, path: Path) => {
    const before = seen.get(key);
    if (before === undefined) seen.set(key, () => source.place(path));
    else fieldErrors.push(source.complaint(path, `is a duplicate of ${before()}`));
    return before === undefined;
  };
}

/**
 * Reads the named playlists of all documents. A screen may use a playlist that another file names.
 */
async function namedPlaylists(
  all: readonly Read[],
  fieldErrors: FieldError[],
  readPlaylist: ReturnType<typeof makePlaylistPlaces>,
) {
  const isFirst = makeDuplicateCheck(fieldErrors);
  const playlists = new Map<string, LocalPlaylist | undefined>();
  for (const { source, content } of all) {
    for (const [name, place] of Object.entries(content.playlists)) {
      const path = ['playlists', name];
      if (isFirst(name, source, path)) playlists.set(name, await readPlaylist(place, source, path));
    }
  }
  return playlists;
}

/**
 * Whether a text is CSV: its first line names the column `venue`, which every CSV file needs. No
 * site file in YAML or JSON begins with such a line.
 */
function isCsv(text: string): boolean {
  const [header = ''] = text.replace(/^sep=.(?:\r*\n|\r)/i, '').split(/[\r\n]/, 1);
  return header.split(/[,;\t]/).some((cell) => /^"?\s*venue\s*"?$/i.test(cell));
}

/**
 * Parses a site file. It is CSV if its name ends in `.csv`, or if `isCsv` recognizes its content.
 */
async function parseSiteFile(
  text: string,
  file: string,
  fieldErrors: FieldError[],
): Promise<SourceDocument[]> {
  if (!/\.csv$/i.test(file) && !isCsv(text)) return parseDocuments(text, file);
  const { parseCsv } = await import('./parse-csv.ts');
  const source = parseCsv(text, file === '-' ? 'stdin' : file, fieldErrors);
  return source ? [source] : [];
}

async function readDocuments(
  { io, clock }: ReadContext,
  files: readonly string[],
  media: MediaFiles,
  fieldErrors: FieldError[],
): Promise<Read[]> {
  if (files.filter((file) => file === '-').length > 1) throw usage('-f - can be given only once.');
  const schema = siteDocument(clock.now());
  const all: Read[] = [];
  let found = 0;
  for (const given of files) {
    const file = await foundInput(given);
    for (const source of await parseSiteFile(await readInput(io, file), file, fieldErrors)) {
      found += 1;
      const content = checkDocument(schema, await media.resolve(source, fieldErrors), fieldErrors);
      if (content) all.push({ source, content });
    }
  }
  if (fieldErrors.length > 0) throw invalidFile(fieldErrors);
  if (found === 0) throw invalidFile([{ path: files.join(', '), message: 'the file is empty' }]);
  return all;
}

/**
 * Reads and merges site files; `-` is stdin. Sends no request. Throws `invalid_file` with all
 * errors, each with file, document, line and path. Checks playlists and duplicates only if all
 * documents are valid.
 */
export async function readSite(
  context: ReadContext,
  files: readonly string[],
  { allowOutside, force }: { allowOutside: boolean; force?: boolean | undefined },
): Promise<Site> {
  const fieldErrors: FieldError[] = [];
  const media = new MediaFiles(context, { allowOutside, force });
  const all = await readDocuments(context, files, media, fieldErrors);
  const nowMs = context.clock.now();
  const readPlaylist = makePlaylistPlaces(
    makePlaylistFiles(fieldErrors, media, { allowOutside, nowMs }),
  );
  const playlists = await namedPlaylists(all, fieldErrors, readPlaylist);
  const readSchedule = makeSchedulePlaces(fieldErrors, media, playlists, {
    allowOutside,
    nowMs,
  });
  const isFirstTenant = makeDuplicateCheck(fieldErrors);
  const isFirstRecord = makeDuplicateCheck(fieldErrors);
  let tenant: Site['tenant'];
  const venues: SiteVenue[] = [];

  /** Returns the playlist with its end in the zone of the venue. Without one, a date is UTC. */
  async function withEnd(
    { validUntil: end, ...playlist }: LocalPlaylist,
    timezone: string | null | undefined,
    refuse: (message: string) => void,
  ): Promise<SitePlaylist> {
    if (end === null || typeof end === 'number') return { ...playlist, validUntil: end };
    const readZone: ReadZone = async (source, text) =>
      text.includes(':') || timezone ? zoneOfFile(timezone)(source, text) : 'UTC';
    try {
      return { ...playlist, validUntil: await readLocalEnd(readZone, end.local, nowMs) };
    } catch (error) {
      refuse((error as Error).message.trim());
      return { ...playlist, validUntil: null };
    }
  }

  async function screenOf(
    { playlist: place, ...rest }: SiteDocument['venues'][number]['screens'][number],
    source: SourceDocument,
    path: Path,
    timezone: string | null | undefined,
  ): Promise<NamedAttributes> {
    const schedule = await readSchedule(rest.schedule, source, [...path, 'schedule'], timezone);
    const screen = { ...rest, schedule };
    if (place === null || place === undefined) return { ...screen, playlist: place };
    const at = [...path, 'playlist'];
    if (typeof place !== 'string') {
      const written = await readPlaylist(place, source, at);
      const refuse = (message: string) =>
        fieldErrors.push(source.complaint([...at, 'validUntil'], message));
      return { ...screen, playlist: written && (await withEnd(written, timezone, refuse)) };
    }
    const named = playlists.get(place);
    const refuse = (message: string) => fieldErrors.push(source.complaint(at, message));
    if (!playlists.has(place))
      refuse(`names the playlist "${place}", which is not under "playlists"`);
    const refuseEnd = (why: string) =>
      refuse(`names the playlist "${place}", whose validUntil ${why}`);
    return { ...screen, playlist: named && (await withEnd(named, timezone, refuseEnd)) };
  }

  for (const { source, content } of all) {
    if (content.tenant && isFirstTenant('', source, ['tenant'])) tenant = content.tenant;
    for (const [at, { screens, ...venue }] of content.venues.entries()) {
      const path = ['venues', at];
      isFirstRecord(foldName(venue.name), source, [...path, 'name']);
      const named: NamedAttributes[] = [];
      for (const [index, screen] of screens.entries()) {
        const where = [...path, 'screens', index];
        isFirstRecord(`${foldName(venue.name)}/${foldName(screen.name)}`, source, [
          ...where,
          'name',
        ]);
        named.push(await screenOf(screen, source, where, venue.timezone));
      }
      const schedule = await readSchedule(
        venue.schedule,
        source,
        [...path, 'schedule'],
        venue.timezone,
      );
      venues.push({ ...venue, schedule, screens: named });
    }
  }
  if (fieldErrors.length > 0) throw invalidFile(fieldErrors);
  return { tenant, venues, media };
}
