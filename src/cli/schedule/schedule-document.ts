import type { CallInput } from '../../client/call.ts';
import type { FieldError } from '../../domain/error.ts';
import { type Schedule, schedule as scheduleSchema } from '../../domain/schedule/schedule.ts';
import type { Environment } from '../command/environment.ts';
import { MediaFiles } from '../media/media-files.ts';
import { readSource } from '../options/input-file.ts';
import {
  checkDocument,
  invalidFile,
  type Path,
  type SourceDocument,
} from '../options/source-document.ts';
import { makePlaylistFiles } from '../playlist/named-files.ts';
import type { NamedTimes } from './draw-week.ts';

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

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads the playlist that an entry names. `at` is the path of the name in the document. */
type ReadPlaylist = (
  name: string,
  document: SourceDocument,
  at: Path,
) => Promise<{ items: readonly object[]; validUntil: number | null } | undefined>;

/**
 * Returns a document in which each entry with `playlist` has the items of this playlist instead.
 * Adds mistakes to `fieldErrors`.
 */
async function withPlaylists(
  source: SourceDocument,
  readPlaylist: ReadPlaylist,
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

/** Checks a document with a schedule. Adds mistakes to `fieldErrors`. */
export async function parseSchedule(
  source: SourceDocument,
  media: MediaFiles,
  readPlaylist: ReadPlaylist,
  fieldErrors: FieldError[],
): Promise<Omit<WrittenSchedule, 'files'> | undefined> {
  const whole = await withPlaylists(source, readPlaylist, fieldErrors);
  const resolved = await media.resolve(whole, fieldErrors);
  const parsed = checkDocument(scheduleSchema, resolved, fieldErrors);
  return parsed && { body: bodyOf(parsed), times: parsed.entries };
}

/**
 * Reads a schedule from a file (`-` for stdin). Items may name media files, and entries playlist
 * files. Throws `invalid_file` with file, line and member of each mistake.
 */
export async function readSchedule(
  { io, clock }: Environment,
  file: string,
  { allowOutside }: { allowOutside: boolean },
): Promise<WrittenSchedule> {
  const fieldErrors: FieldError[] = [];
  const files = new MediaFiles({ allowOutside });
  const nowMs = clock.now();
  const readPlaylist = makePlaylistFiles(fieldErrors, files, { allowOutside, nowMs });
  const source = await readSource(io, file);
  const read = await parseSchedule(source, files, readPlaylist, fieldErrors);
  if (!read || fieldErrors.length > 0) throw invalidFile(fieldErrors);
  return { ...read, files };
}
