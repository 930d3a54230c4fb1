import type { FieldError } from '../../domain/error.ts';
import { foldName } from '../../domain/fields.ts';
import type { Environment } from '../command/environment.ts';
import { MediaFiles } from '../media/media-files.ts';
import { readInput } from '../options/input-file.ts';
import { usage } from '../options/settings.ts';
import {
  checkDocument,
  invalidFile,
  type Path,
  parseDocuments,
  type SourceDocument,
} from '../options/source-document.ts';
import { makeNamedFiles, makePlaylistFiles } from '../playlist/named-files.ts';
import { parseSchedule } from '../schedule/schedule-document.ts';
import {
  type Attributes,
  type NamedAttributes,
  type PlaylistPlace,
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
  ): Promise<SitePlaylist | undefined> =>
    'items' in place ? place : readFile(place.file, document, [...at, 'file']);
}

/** Returns a function that reads schedules, written in the document or in files of their own. */
function makeSchedulePlaces(
  fieldErrors: FieldError[],
  media: MediaFiles,
  playlists: ReadonlyMap<string, SitePlaylist | undefined>,
  options: { allowOutside: boolean; nowMs: number },
) {
  const readPlaylistFile = makePlaylistFiles(fieldErrors, media, options);
  const readFile = makeNamedFiles('schedule', fieldErrors, options, (source) =>
    parseSchedule(source, media, readPlaylistFile, fieldErrors),
  );
  const readNamed = async (name: string, document: SourceDocument, at: Path) => {
    if (!playlists.has(name))
      fieldErrors.push(
        document.complaint(at, `names the playlist "${name}", which is not under "playlists"`),
      );
    return playlists.get(name);
  };
  return async (
    place: { file: string } | { entries: unknown } | null | undefined,
    document: SourceDocument,
    at: Path,
  ): Promise<Attributes['schedule']> => {
    if (place == null) return place;
    if ('file' in place) return (await readFile(place.file, document, [...at, 'file']))?.body;
    const within: SourceDocument = {
      ...document,
      value: place,
      complaint: (path, message) => document.complaint([...at, ...path], message),
      place: (path) => document.place([...at, ...path]),
      written: (path) => document.written([...at, ...path]),
    };
    return (await parseSchedule(within, media, readNamed, fieldErrors))?.body;
  };
}

type ReadContext = Pick<Environment, 'io' | 'clock'>;

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
  const playlists = new Map<string, SitePlaylist | undefined>();
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
  for (const file of files) {
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
  { allowOutside }: { allowOutside: boolean },
): Promise<Site> {
  const fieldErrors: FieldError[] = [];
  const media = new MediaFiles({ allowOutside });
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

  async function screenOf(
    { playlist: place, ...written }: SiteDocument['venues'][number]['screens'][number],
    source: SourceDocument,
    path: Path,
  ): Promise<NamedAttributes> {
    const schedule = await readSchedule(written.schedule, source, [...path, 'schedule']);
    const screen = { ...written, schedule };
    if (place === null || place === undefined) return { ...screen, playlist: place };
    const at = [...path, 'playlist'];
    if (typeof place !== 'string')
      return { ...screen, playlist: await readPlaylist(place, source, at) };
    if (!playlists.has(place))
      fieldErrors.push(
        source.complaint(at, `names the playlist "${place}", which is not under "playlists"`),
      );
    return { ...screen, playlist: playlists.get(place) };
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
        named.push(await screenOf(screen, source, where));
      }
      const schedule = await readSchedule(venue.schedule, source, [...path, 'schedule']);
      venues.push({ ...venue, schedule, screens: named });
    }
  }
  if (fieldErrors.length > 0) throw invalidFile(fieldErrors);
  return { tenant, venues, media };
}
