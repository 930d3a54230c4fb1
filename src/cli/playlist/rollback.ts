import { isDeepStrictEqual } from 'node:util';
import { SignageError } from '../../domain/error.ts';
import { epochMs } from '../../domain/fields.ts';
import type { PlaylistView as Playlist, Publication } from '../../domain/records/playlist.ts';
import { preconditionOf, untilStored } from '../api/conditional.ts';
import type { CommandContext } from '../command/context.ts';
import { forEachRecord } from '../command/for-each-record.ts';
import { confirmSelected } from '../options/select-screens.ts';
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
  /** The playlist that the screen has now. */
  playlist: Playlist;
  /** The version that it has the content of. */
  from: number;
  /** Whether this command has published it, and not another caller or an earlier run. */
  isNew: boolean;
}

/** Makes the error for a playlist that another caller has changed since it was recorded. */
function changedMeanwhile(version: number | undefined): SignageError {
  const what = version === undefined ? 'It was withdrawn' : `Version ${version} was published`;
  return new SignageError(
    'precondition_failed',
    `${what} after this command began, so the screen was left alone.`,
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

/** Returns the publication of a former version. Throws `invalid_request` if it has expired. */
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

/** Versions on one page. Usually the current one and two below it are all that is needed. */
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
    versions.push(...page);
    if (versions.filter((one) => one.version < version).length >= 2) break;
  }
  return versions;
}

type Stored = NonNullable<Awaited<ReturnType<typeof currentPlaylist>>>;
type Published = Pick<RolledBack, 'playlist' | 'isNew'>;

/**
 * Publishes over exactly the recorded version. If another caller or an earlier run has published
 * the same, returns their playlist. Throws `precondition_failed` if something else is there.
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
 * Publishes the content of the version before the recorded one, if the recorded version still
 * stands. Returns `undefined` under `--dry-run`.
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
  // An earlier run published this version, perhaps without learning it. It may have had a new end,
  // so only the items are compared.
  const next = versions.find((one) => one.version === version + 1);
  if (next && isDeepStrictEqual(next.items, previous.items))
    return { playlist: next, from: previous.version, isNew: false };
  const [newest] = versions;
  if (newest && newest.version > version) throw changedMeanwhile(newest.version);
  // A rollback again, without the file of the first one, would publish the bad version again. The
  // first one may have had a new end, so only the items are compared.
  if (newest && beforeThat && isDeepStrictEqual(newest.items, beforeThat.items))
    throw new SignageError(
      'precondition_failed',
      `It already has the content of version ${beforeThat.version}, as after a rollback. To publish version ${previous.version} again, name its number.`,
    );
  const made = await publishOver(call, screen, formerContent(call, previous, newEnd));
  return made && { ...made, from: previous.version };
}

/** Withdraws exactly this playlist. Throws `precondition_failed` if it has changed. */
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
 * Gives a screen back what it had before `published`, if it still has `published`. Withdraws the
 * playlist if there was none, or if the former one has expired. Returns the word for the result.
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
      hint: 'Name the version to go back to. signage playlist history lists them.',
    });
  return rollBack(call, recorded, newEnd);
}

/**
 * Rolls screens back to their previous versions. Records in the file of `--state` what each screen
 * has before it changes the first one. So the same command can be run again: it finishes, and
 * neither rolls a screen back twice nor overwrites what others have published.
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
        `What each screen had is in ${call.options.state}. The same command finishes what failed, and changes nothing twice.`,
      );
  }
}
