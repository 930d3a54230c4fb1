import { SignageError } from '../../../domain/error.ts';
import { epochMs } from '../../../domain/fields.ts';
import type { PlaylistView as Playlist } from '../../../domain/playlists/playlist.ts';
import type { CommandContext } from '../../program/context.ts';
import {
  type ChangeResult,
  changeError,
  changeMany,
  changeResult,
} from '../../records/change-many.ts';
import { printResults } from '../../records/for-each-record.ts';
import { confirmSelected } from '../../records/select-screens.ts';
import { shellQuote } from '../../terminal/text.ts';
import {
  openRollout,
  type RecordedScreen,
  type RolloutState,
  rolloutFile,
  withChanges,
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
  /** Whether this command published it. */
  isNew: boolean;
}

/**
 * Returns the publication of a former version. Throws `invalid_request` if it has expired and there
 * is no new end.
 */
export function formerContent(
  call: CommandContext,
  { version, items, validUntil }: Playlist,
  newEnd: NewEnd,
): Pick<Playlist, 'items' | 'validUntil'> {
  const isExpired = validUntil !== null && epochMs(validUntil) <= call.clock.now();
  if (newEnd === undefined && isExpired) {
    throw new SignageError('invalid_request', `Version ${version} has expired.`, {
      hint: 'Give it a new end: --valid-until 7d, or --valid-until none.',
    });
  }
  return { items, validUntil: newEnd === undefined ? validUntil : newEnd };
}

const rollingBack = (newEnd: NewEnd) => ({
  action: 'rollback' as const,
  ...(newEnd !== undefined && { validUntil: newEnd }),
});

/** Rolls one screen back to its previous version. Returns `undefined` under `--dry-run`. */
export async function rollBackOne(
  call: CommandContext,
  screen: { id: string; name: string },
  newEnd: NewEnd,
): Promise<RolledBack | undefined> {
  const { id, name } = screen;
  for await (const [one] of changeMany(call, [{ id, name }], rollingBack(newEnd))) {
    if (!one) continue;
    if ('code' in one.outcome) throw changeError(one.outcome.code);
    const playlist = await call.read('readPlaylist', { params: { id } });
    const { version, changed: isNew } = one.outcome;
    // The version before the current one, which the new one follows.
    return { playlist, from: (version ?? playlist.version) - 2, isNew };
  }
  return undefined;
}

/** Rolls back the screens that are not rolled back yet. Yields the results of all. */
async function* rollBackRest(
  call: CommandContext,
  state: RolloutState,
  newEnd: NewEnd,
  show: (text: string) => void,
): AsyncGenerator<ChangeResult> {
  const results = new Map<string, ChangeResult>();
  const rest: RecordedScreen[] = [];
  for (const screen of state.screens) {
    const { id, name, version, changedTo } = screen;
    if (version !== null && changedTo === undefined) rest.push(screen);
    else {
      const result = version === null ? 'no playlist' : 'unchanged';
      results.set(id, { name, id, result, error: null });
    }
  }
  let stopped: { error: unknown } | undefined;
  let saved = state;
  const change = rollingBack(newEnd);
  try {
    for await (const page of changeMany(call, rest, change, { show, seed: state.seed })) {
      for (const one of page)
        results.set(one.screen.id, withoutVersion(changeResult(one, 'rollback')));
      saved = withChanges(saved, page);
      await rolloutFile(call.options.state).write(saved);
    }
  } catch (error) {
    stopped = { error };
  }
  for (const { id } of state.screens) {
    const result = results.get(id);
    if (result && !call.common.dryRun) yield result;
  }
  if (stopped) throw stopped.error;
}

const withoutVersion = ({ id, name, result, error }: ChangeResult) => ({ name, id, result, error });

/**
 * Rolls screens back to their previous versions. First records the current versions in the file of
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
  if (isNew && !call.common.dryRun) await rolloutFile(call.options.state).write(state);
  try {
    return await printResults(call, (show) => rollBackRest(call, state, newEnd, show));
  } finally {
    if (!call.common.dryRun)
      call.note(
        `The earlier playlists are recorded in ${call.options.state}. To retry the screens that failed, run the same command with --state ${shellQuote(call.options.state)}. It changes nothing twice.`,
      );
  }
}
