import { isDeepStrictEqual } from 'node:util';
import { SignageError } from '../../domain/error.ts';
import { epochMs } from '../../domain/fields.ts';
import type { PlaylistView as Playlist, Publication } from '../../domain/records/playlist.ts';
import { preconditionOf, untilStored } from '../api/conditional.ts';
import type { CommandContext } from '../command/context.ts';
import { forEachRecord } from '../command/for-each-record.ts';
import { confirmSelected } from '../options/select-screens.ts';
import { shellQuote } from '../records/text.ts';
import {
  currentPlaylist,
  openRollout,
  type RecordedScreen,
  recordScreen,
  writeState,
} from './rollout-state.ts';

/**
 * A new end in epoch seconds, or `null` for none. `undefined` keeps the end of the version that is
 * published again.
 */
export type NewEnd = number | null | undefined;

export interface RolledBack {
  /** The current playlist of the screen. */
  playlist: Playlist;
  /** The version whose content it has. */
  from: number;
  /** Whether this command published it, rather than another caller or an earlier run. */
  isNew: boolean;
}

/** Makes the error for a playlist that another caller has changed since it was recorded. */
function changedMeanwhile(version: number | undefined): SignageError {
  const what = version === undefined ? 'It was withdrawn' : `Version ${version} was published`;
  return new SignageError(
    'precondition_failed',
    `${what} after this command began, so the screen was not changed.`,
  );
}

const seconds = (validUntil: number | null | undefined) =>
  validUntil == null ? null : Math.floor(epochMs(validUntil) / 1000);

/** Whether a playlist has the content of a publication, which includes its end. */
function hasContent(playlist: Playlist | undefined, wanted: Publication): boolean {
  return (
    playlist !== undefined &&
    isDeepStrictEqual(playlist.items, wanted.items) &&
    playlist.validUntil === seconds(wanted.validUntil)
  );
}

const isExpired = ({ validUntil }: Playlist, nowMs: number) =>
  validUntil !== null && validUntil * 1000 <= nowMs;

/**
 * Returns the publication of a former version. Throws `invalid_request` if it has expired and there
 * is no new end.
 */
export function formerContent(
  call: CommandContext,
  former: Playlist,
  newEnd: NewEnd,
): Pick<Playlist, 'items' | 'validUntil'> {
  if (newEnd === undefined && isExpired(former, call.clock.now())) {
    throw new SignageError('invalid_request', `Version ${former.version} has expired.`, {
      hint: 'Give it a new end: --valid-until 7d, or --valid-until none.',
    });
  }
  return { items: former.items, validUntil: newEnd === undefined ? former.validUntil : newEnd };
}

/** Page size. Usually the current version and the two before it are enough. */
const pageSize = 3;

/**
 * Reads versions of a screen, newest first, page by page, until at least two are below `version` or
 * none are left.
 */
async function versionsDownTo(
  call: CommandContext,
  id: string,
  version: number,
): Promise<Playlist[]> {
  const versions: Playlist[] = [];
  const pages = call.pages('listPlaylistVersions', { params: { id }, query: { limit: pageSize } });
  for await (const page of pages) {
    for (const one of page) versions.push(one);
    if (versions.filter((one) => one.version < version).length >= 2) break;
  }
  return versions;
}

type Stored = NonNullable<Awaited<ReturnType<typeof currentPlaylist>>>;
type Published = Pick<RolledBack, 'playlist' | 'isNew'>;

/**
 * Publishes if the recorded version is still the current one. If another caller or an earlier run
 * has published the same, returns that playlist. Throws `precondition_failed` for any other change.
 * Returns `undefined` under `--dry-run`.
 */
export async function publishOver(
  call: CommandContext,
  { id, etag }: Pick<RecordedScreen, 'id' | 'etag'>,
  body: Publication,
): Promise<Published | undefined> {
  const headers = preconditionOf(etag);
  return untilStored<Stored | undefined, Published | undefined>(undefined, {
    async read() {
      const current = await currentPlaylist(call, id);
      const isRecorded = (current?.etag ?? null) === etag;
      if (isRecorded || hasContent(current?.answer, body)) return current;
      throw changedMeanwhile(current?.answer.version);
    },
    async write() {
      const made = await call.change('publishPlaylist', { params: { id }, body, headers });
      return made && { playlist: made.answer, isNew: true };
    },
    resultOf: (current, isLost) =>
      current && hasContent(current.answer, body)
        ? { playlist: current.answer, isNew: isLost }
        : undefined,
  });
}

/**
 * Publishes the content of the version before the recorded one, if the recorded one is still
 * current. Returns `undefined` under `--dry-run`.
 */
async function rollBack(
  call: CommandContext,
  screen: RecordedScreen & { version: number },
  newEnd: NewEnd,
): Promise<RolledBack | undefined> {
  const { id, version } = screen;
  const versions = await versionsDownTo(call, id, version);
  const [previous, beforeThat] = versions.filter((one) => one.version < version);
  if (!previous)
    throw new SignageError('playlist_not_found', `There is no version before ${version}.`);
  // An earlier run published this version, perhaps without getting the answer. It may have set a
  // new end, so only the items are compared.
  const next = versions.find((one) => one.version === version + 1);
  if (next && isDeepStrictEqual(next.items, previous.items))
    return { playlist: next, from: previous.version, isNew: false };
  const [newest] = versions;
  if (newest && newest.version > version) throw changedMeanwhile(newest.version);
  // A second rollback without the state file of the first would publish the bad version again. The
  // first may have set a new end, so only the items are compared.
  if (newest && beforeThat && isDeepStrictEqual(newest.items, beforeThat.items))
    throw new SignageError(
      'precondition_failed',
      `It already has the content of version ${beforeThat.version}, as after a rollback. To publish version ${previous.version} again, give its number.`,
    );
  const made = await publishOver(call, screen, formerContent(call, previous, newEnd));
  return made && { ...made, from: previous.version };
}

/** Withdraws the playlist. Throws `precondition_failed` if another one is current. */
async function withdraw(call: CommandContext, id: string, playlist: Stored): Promise<void> {
  await untilStored<Stored | undefined, unknown>(playlist, {
    async read() {
      const current = await currentPlaylist(call, id);
      if (current && current.etag !== playlist.etag) throw changedMeanwhile(current.answer.version);
      return current;
    },
    async write(stored) {
      if (!stored) return;
      const headers = preconditionOf(stored.etag);
      await call.change('withdrawPlaylist', { params: { id }, headers });
    },
  });
}

/**
 * Restores the playlist that a screen had before `published`, if `published` is still current. If
 * the screen had no earlier playlist, or if that playlist has expired, withdraws `published`.
 * Returns the result to report.
 */
export async function restore(
  call: CommandContext,
  { id, version }: RecordedScreen,
  published: Publication,
): Promise<'rolled back' | 'unchanged'> {
  const current = await currentPlaylist(call, id);
  const newest = current?.answer;
  if (newest?.version === version || (!newest && version === null)) return 'unchanged';
  const versions = version === null ? [] : await versionsDownTo(call, id, version);
  const former = versions.find((one) => one.version === version);
  if (former && hasContent(newest, former)) return 'unchanged';
  if (!newest || !hasContent(newest, published)) throw changedMeanwhile(newest?.version);
  if (version !== null && !former)
    throw new SignageError('playlist_not_found', `Version ${version} is not kept.`);
  if (!former || isExpired(former, call.clock.now())) {
    await withdraw(call, id, current);
    return 'rolled back';
  }
  const { items, validUntil } = former;
  await publishOver(call, { id, etag: current.etag ?? null }, { items, validUntil });
  return 'rolled back';
}

const hasPlaylist = (screen: RecordedScreen): screen is RecordedScreen & { version: number } =>
  screen.version !== null;

/** Rolls one screen back to its previous version. Returns `undefined` under `--dry-run`. */
export async function rollBackOne(
  call: CommandContext,
  screen: { id: string; name: string },
  newEnd: NewEnd,
): Promise<RolledBack | undefined> {
  const recorded = await recordScreen(call, screen);
  if (!hasPlaylist(recorded))
    throw new SignageError('playlist_not_found', `"${screen.name}" has no playlist now.`, {
      hint: 'Give the version to go back to. signage playlist history lists all versions.',
    });
  return rollBack(call, recorded, newEnd);
}

/**
 * Rolls screens back to their previous versions. First records the current playlists in the file of
 * `--state`. The same command can then be run again: it finishes the rollback, rolls no screen back
 * twice, and overwrites no playlist of other callers.
 */
export async function rollBackAll(
  call: CommandContext,
  names: readonly string[],
  newEnd: NewEnd,
): Promise<number> {
  const { state, isNew } = await openRollout(call, 'rollback previous', names);
  await confirmSelected(call, 'Roll back', state.screens);
  if (isNew && !call.common.dryRun) await writeState(call.options.state, state);
  try {
    return await forEachRecord(call, state.screens, async (screen) => {
      if (!hasPlaylist(screen)) return 'no playlist';
      const done = await rollBack(call, screen, newEnd);
      return done && (done.isNew ? 'rolled back' : 'unchanged');
    });
  } finally {
    if (!call.common.dryRun)
      call.note(
        `The earlier playlists are recorded in ${call.options.state}. To retry the screens that failed, run the same command with --state ${shellQuote(call.options.state)}. It changes nothing twice.`,
      );
  }
}
