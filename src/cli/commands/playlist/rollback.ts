import { SignageError } from '../../../domain/error.ts';
import { epochMs } from '../../../domain/fields.ts';
import type { PlaylistView as Playlist } from '../../../domain/playlists/playlist.ts';
import type { CommandContext } from '../../program/context.ts';
import { changeError, changeMany } from '../../records/change-many.ts';
import { confirmSelected } from '../../records/select-screens.ts';
import { shellQuote } from '../../terminal/text.ts';
import { openRollout, Rollout } from './rollout.ts';

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
  const rollout = new Rollout(call, state);
  for (const screen of state.screens) {
    if (screen.version === null) rollout.keep(screen, 'no playlist');
    else if (screen.changedTo !== undefined) rollout.keep(screen, 'unchanged');
  }
  const rest = state.screens.filter(({ id }) => !rollout.results.has(id));
  const work = () => rollout.change(rest, rollingBack(newEnd), { isRecorded: true });
  if (call.common.dryRun) {
    await work();
    return 0;
  }
  if (isNew) await rollout.save();
  return rollout.run(work, {
    advice: `To retry the screens that failed, run the same command with --state ${shellQuote(call.options.state)}. It changes nothing twice.`,
  });
}
