import { z } from 'zod';
import { SignageError } from '../../domain/error.ts';
import { publication } from '../../domain/records/playlist.ts';
import { replaceFile } from '../api/private-file.ts';
import type { CommandContext } from '../command/context.ts';
import { mapRecords } from '../command/for-each-record.ts';
import { unusableFile } from '../options/file-error.ts';
import { readRegularFile } from '../options/read-file.ts';
import { type Selected, selectScreens } from '../options/select-screens.ts';
import { usage } from '../options/settings.ts';
import { orUndefined } from '../records/find.ts';

const recordedScreen = z.object({
  id: z.uuid(),
  name: z.string(),
  /** Version of the playlist before the rollout; `null`: none, or a withdrawn one. */
  version: z.int().min(1).nullable(),
  /** ETag of that version (docs/protocol.md §5.10). */
  etag: z.string().nullable(),
});
export type RecordedScreen = z.infer<typeof recordedScreen>;

const rolloutState = z.object({
  format: z.literal(1),
  /** The command and its selection. Only the same command continues the rollout. */
  command: z.array(z.string()),
  screens: z.array(recordedScreen),
  /** Members of a staged publication. */
  staged: z
    .object({
      /** The publication, with its end in epoch seconds, so that all stages publish the same. */
      publication,
      /** Its end as written, such as `7d`. It is resolved only once. */
      writtenEnd: z.union([z.string(), z.number()]).nullable(),
      /** The newest event before the publication; `null`: there was none. */
      after: z.string().nullable(),
      /** The current stage, counted from 0. */
      stage: z.int().min(0),
      /** When the current stage was published, in epoch milliseconds. `null`: not yet. */
      publishedAtMs: z.int().nullable(),
      isRollingBack: z.boolean(),
    })
    .optional(),
});

/**
 * Content of the file of `--state`: the playlist versions before the first change, and the progress
 * of a staged publication.
 */
export type RolloutState = z.infer<typeof rolloutState>;

function parseState(text: string): RolloutState | undefined {
  try {
    return rolloutState.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Reads the file of `--state`. Returns `undefined` if there is none yet. */
async function readState(path: string): Promise<RolloutState | undefined> {
  let text: string;
  try {
    text = await readRegularFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unusableFile(error, path, { what: '--state' });
  }
  const state = parseState(text);
  if (state) return state;
  throw new SignageError('invalid_file', `${path} is not a state file of this command.`, {
    hint: 'Give --state a new file.',
  });
}

/** Writes the file of `--state` atomically and durably. */
export async function writeState(path: string, state: RolloutState): Promise<void> {
  try {
    await replaceFile(path, `${JSON.stringify(state, null, 2)}\n`);
  } catch (error) {
    throw unusableFile(error, path, { what: '--state', access: 'written' });
  }
}

/** Returns the playlist of a screen with its ETag, or `undefined` if it has none. */
export function currentPlaylist(call: CommandContext, id: string) {
  return orUndefined(call.readWithEtag('readPlaylist', { params: { id } }), 'playlist_not_found');
}

/** Reads the version and the ETag of a screen's current playlist. */
export async function recordScreen(
  call: CommandContext,
  { id, name }: Pick<Selected, 'id' | 'name'>,
): Promise<RecordedScreen> {
  const current = await currentPlaylist(call, id);
  return {
    id,
    name,
    version: current?.answer.version ?? null,
    etag: current?.etag ?? null,
  };
}

/** Returns the command and its selection as words. */
function commandWords(
  { options: { venue, selector } }: CommandContext,
  command: string,
  names: readonly string[],
): string[] {
  const filters = [
    ...(venue === undefined ? [] : ['--venue', venue]),
    ...selector.flatMap((one: string) => ['--selector', one]),
  ];
  return [command, ...names, ...filters];
}

/**
 * Returns the state of the rollout in the file of `--state`. Without that file, starts a new
 * rollout: selects the screens and reads their playlists. Throws `usage` if the file belongs to
 * another command.
 */
export async function openRollout(
  call: CommandContext,
  command: string,
  names: readonly string[],
): Promise<{ state: RolloutState; isNew: boolean }> {
  const words = commandWords(call, command, names);
  const path: string = call.options.state;
  const saved = await readState(path);
  if (saved === undefined) {
    const { screens } = await selectScreens(call, names);
    const recorded = await mapRecords(call, 'Reading', screens, (one) => recordScreen(call, one));
    return { state: { format: 1, command: words, screens: recorded }, isNew: true };
  }
  if (JSON.stringify(saved.command) !== JSON.stringify(words))
    throw usage(
      `${path} belongs to another command: signage playlist ${saved.command.join(' ')}.`,
      'Give --state a new file, or repeat that command.',
    );
  return { state: saved, isNew: false };
}
