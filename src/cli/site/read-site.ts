import type { FieldError } from '../../domain/error.ts';
import { foldName } from '../../domain/fields.ts';
import { readInput } from '../options/input-file.ts';
import { usage } from '../options/settings.ts';
import type { Io } from '../terminal/io.ts';
import { checkDocument } from './check-document.ts';
import { makePlaylistFiles } from './playlist-files.ts';
import type { NamedAttributes, Site, SitePlaylist, SiteVenue } from './site.ts';
import { type SiteDocument, siteDocument } from './site-schema.ts';
import { invalidFile, type Path, parseDocuments, type SourceDocument } from './source-document.ts';

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

/** Reads the named playlists of all documents. Screens may use playlists of other files. */
async function namedPlaylists(
  all: readonly Read[],
  fieldErrors: FieldError[],
  readPlaylist: ReturnType<typeof makePlaylistFiles>,
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

async function readDocuments(
  io: Io,
  files: readonly string[],
  fieldErrors: FieldError[],
): Promise<Read[]> {
  if (files.filter((file) => file === '-').length > 1) throw usage('-f - can be given only once.');
  const all: Read[] = [];
  let found = 0;
  for (const file of files) {
    for (const source of parseDocuments(await readInput(io, file), file)) {
      found += 1;
      const content = checkDocument(siteDocument, source, fieldErrors);
      if (content) all.push({ source, content });
    }
  }
  if (fieldErrors.length > 0) throw invalidFile(fieldErrors);
  if (found === 0) throw invalidFile([{ path: files.join(', '), message: 'the file is empty' }]);
  return all;
}

/**
 * Reads and merges site files; `-` is stdin. Sends no request. Throws `invalid_file` with all
 * errors, each with file, document, line and path.
 */
export async function readSite(
  io: Io,
  files: readonly string[],
  { allowOutside }: { allowOutside: boolean },
): Promise<Site> {
  const fieldErrors: FieldError[] = [];
  const all = await readDocuments(io, files, fieldErrors);
  const readPlaylist = makePlaylistFiles(fieldErrors, { allowOutside });
  const playlists = await namedPlaylists(all, fieldErrors, readPlaylist);
  const isFirstTenant = makeDuplicateCheck(fieldErrors);
  const isFirstRecord = makeDuplicateCheck(fieldErrors);
  let tenant: Site['tenant'];
  const venues: SiteVenue[] = [];

  async function screenOf(
    { playlist: place, ...screen }: SiteDocument['venues'][number]['screens'][number],
    source: SourceDocument,
    path: Path,
  ): Promise<NamedAttributes> {
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
      venues.push({ ...venue, screens: named });
    }
  }
  if (fieldErrors.length > 0) throw invalidFile(fieldErrors);
  return { tenant, venues };
}
