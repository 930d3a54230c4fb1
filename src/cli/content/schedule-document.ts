import type { CallInput } from '../../client/call.ts';
import type { FieldError } from '../../domain/error.ts';
import { isObject } from '../../domain/json/is-object.ts';
import type { NamedTimes } from '../../domain/schedule/entry-times.ts';
import { type Schedule, schedule as scheduleSchema } from '../../domain/schedule/schedule.ts';
import type { MediaReading } from '../examination/local-media.ts';
import { checkDocument } from '../input/check-document.ts';
import { readSource } from '../input/input-file.ts';
import { invalidFile, type Path, type SourceDocument } from '../input/source-document.ts';
import type { ReadZone } from '../input/time.ts';
import type { Environment } from '../terminal/environment.ts';
import { withLocalEnds } from '../times/local-ends.ts';
import { MediaFiles } from './media-files.ts';
import { makePlaylistFiles } from './named-files.ts';

/** A schedule as the service takes it. */
export type ScheduleBody = CallInput<'putScreenSchedule'>['body'];

/** A schedule from a file. */
export interface WrittenSchedule {
  body: ScheduleBody;
  /** When its entries hold. Instants are in Unix epoch milliseconds. */
  times: readonly NamedTimes[];
  /** The media files that it names. */
  files: MediaFiles;
}

/** Reads the playlist that an entry names. `at` is the path of the name in the document. */
type ReadNamedPlaylist = (
  name: string,
  document: SourceDocument,
  at: Path,
) => Promise<{ items: readonly object[]; validUntil: unknown } | undefined>;

/**
 * Returns a document in which each entry with `playlist` has the items of this playlist instead.
 * Adds mistakes to `fieldErrors`.
 */
async function withPlaylists(
  source: SourceDocument,
  readPlaylist: ReadNamedPlaylist,
  fieldErrors: FieldError[],
): Promise<SourceDocument> {
  if (!isObject(source.value) || !Array.isArray(source.value.entries)) return source;
  const entries: unknown[] = [];
  for (const [place, entry] of source.value.entries.entries()) {
    if (!isObject(entry) || entry.playlist === undefined) {
      entries.push(entry);
      continue;
    }
    const { playlist: name, ...rest } = entry;
    const at = ['entries', place, 'playlist'];
    const refuse = (message: string) => fieldErrors.push(source.complaint(at, message));
    if (rest.items !== undefined) refuse('must not stand beside items');
    const isName = typeof name === 'string' && name !== '';
    if (!isName) refuse('must name a playlist');
    const playlist = isName ? await readPlaylist(name, source, at) : undefined;
    if (playlist && playlist.validUntil !== null)
      refuse(`has a validUntil, but an entry ends by its own times: ${name}`);
    // An entry without items would be a second error.
    entries.push({ ...rest, items: playlist?.items ?? [placeholder] });
  }
  return { ...source, value: { ...source.value, entries } };
}

/** Stands for the items of a playlist that cannot be read. */
const placeholder = {
  creativeId: '00000000-0000-4000-8000-000000000000',
  creativeUrl: 'https://media.invalid/',
  creativeType: 'image',
  duration: 1,
};

/** Returns a schedule as the service takes it, and answers it: instants in Unix epoch seconds. */
function bodyOf({ entries }: Schedule): ScheduleBody {
  return {
    entries: entries.map(({ at, until, ...entry }) => ({
      ...entry,
      ...(at !== undefined && { at: Math.floor(at / 1000) }),
      ...(until !== undefined && { until: Math.floor(until / 1000) }),
    })),
  };
}

function instantsIn({ value }: SourceDocument): Path[] {
  const entries = isObject(value) && Array.isArray(value.entries) ? value.entries : [];
  return entries.flatMap((_, place) => [
    ['entries', place, 'at'],
    ['entries', place, 'until'],
  ]);
}

/** Returns what is wrong with the outermost form of a schedule, which explains all else. */
export function mistakeOfForm(value: unknown): [at: Path, message: string] | undefined {
  if (Array.isArray(value)) return [[], 'must begin with "entries:", and the list below it'];
  if (!isObject(value)) return [[], 'must be a schedule: { entries: […] }'];
  if (value.entries === undefined)
    return [
      ['entries'],
      'is missing: a schedule is { entries: […] }, and each entry has its items',
    ];
  if (isObject(value.entries)) return [['entries'], 'must be a list: begin each entry with "- "'];
  return undefined;
}

/**
 * Checks a document with a schedule. Adds mistakes to `fieldErrors`.
 *
 * @param readZone of instants without a zone; absent: they are refused
 */
export async function parseSchedule(
  source: SourceDocument,
  media: MediaFiles,
  readPlaylist: ReadNamedPlaylist,
  fieldErrors: FieldError[],
  readZone?: ReadZone,
): Promise<Omit<WrittenSchedule, 'files'> | undefined> {
  const mistake = mistakeOfForm(source.value);
  if (mistake) {
    fieldErrors.push(source.complaint(...mistake));
    return undefined;
  }
  const local = readZone
    ? await withLocalEnds(source, instantsIn(source), readZone, fieldErrors)
    : source;
  const whole = await withPlaylists(local, readPlaylist, fieldErrors);
  const resolved = await media.resolve(whole, fieldErrors);
  const parsed = checkDocument(scheduleSchema, resolved, fieldErrors);
  return parsed && { body: bodyOf(parsed), times: parsed.entries };
}

/**
 * Reads a schedule from a file (`-` for stdin). Items may name media files, and entries playlist
 * files. Throws `invalid_file` with file, line and member of each mistake.
 */
export async function readSchedule(
  call: Environment & MediaReading,
  file: string,
  { allowOutside, force }: { allowOutside: boolean; force?: boolean | undefined },
  readZone: ReadZone,
): Promise<WrittenSchedule> {
  const fieldErrors: FieldError[] = [];
  const files = new MediaFiles(call, { allowOutside, force });
  const nowMs = call.clock.now();
  const readPlaylist = makePlaylistFiles(fieldErrors, files, { allowOutside, nowMs });
  const source = await readSource(call.io, file);
  const read = await parseSchedule(source, files, readPlaylist, fieldErrors, readZone);
  if (!read || fieldErrors.length > 0) throw invalidFile(fieldErrors);
  return { ...read, files };
}
