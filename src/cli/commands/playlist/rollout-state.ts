import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { publication } from '../../../domain/playlists/playlist.ts';
import { stateFile } from '../../connection/state-file.ts';
import { versionOn } from '../../content/publication.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import type { ScreenOutcome } from '../../records/change-many.ts';
import { mapRecords } from '../../records/for-each-record.ts';
import {
  hasFilter,
  type Selected,
  selectionFilters,
  selectScreens,
} from '../../records/select-screens.ts';

const recordedScreen = z.object({
  id: z.uuid(),
  name: z.string(),
  /** Version of the playlist before the rollout; `null`: none, or a withdrawn one. */
  version: z.int().min(1).nullable(),
  /** The version that the rollout has made. Absent: none yet. */
  changedTo: z.int().min(1).optional(),
});
export type RecordedScreen = z.infer<typeof recordedScreen>;

const rolloutState = z.object({
  format: z.literal(1),
  /** The command and its selection. Only the same command continues the rollout. */
  command: z.array(z.string()),
  /** Source of the `Idempotency-Key`s, so that a lost answer is given again. */
  seed: z.string(),
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

export const rolloutFile = (path: string) =>
  stateFile<RolloutState>(path, {
    parse: (content) => rolloutState.parse(content),
    use: { what: '--state' },
    remedy: 'Give --state a new file.',
    isSecret: false,
    indent: 2,
  });

/** Returns the state with the versions that the rollout has made. */
export function withChanges<S extends RolloutState>(
  state: S,
  outcomes: readonly ScreenOutcome<RecordedScreen>[],
): S {
  const made = new Map(
    outcomes.flatMap(({ screen, outcome }) =>
      'changed' in outcome && outcome.changed ? [[screen.id, outcome.version]] : [],
    ),
  );
  const screens = state.screens.map((screen) => {
    const changedTo = made.get(screen.id);
    return changedTo == null ? screen : { ...screen, changedTo };
  });
  return { ...state, screens };
}

/** Reads the versions of the current playlists; `null`: none. */
async function readVersions(
  call: CommandContext,
  screens: readonly Selected[],
): Promise<(number | null)[]> {
  if (!hasFilter(call))
    return mapRecords(
      call,
      'Reading',
      screens,
      async ({ id }) => (await versionOn(call, id)) ?? null,
    );
  const all = await call.all('listScreenStatus', { query: selectionFilters(call, screens) });
  const versions = new Map(
    all.flatMap(({ screen, playlist }) =>
      playlist && playlist.status !== 'withdrawn' ? [[screen.id, playlist.version]] : [],
    ),
  );
  return screens.map(({ id }) => versions.get(id) ?? null);
}

/** Returns the command and its selection as words. */
function commandWords(
  { options: { venue, selector, all } }: CommandContext,
  command: string,
  names: readonly string[],
): string[] {
  const filters = [
    ...(all ? ['--all'] : []),
    ...venue.flatMap((one: string) => ['--venue', one]),
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
  const saved = await rolloutFile(path).read();
  if (saved === null) {
    const { screens } = await selectScreens(call, names);
    const versions = await readVersions(call, screens);
    const recorded = screens.map(({ id, name }, at) => ({
      id,
      name,
      version: versions[at] ?? null,
    }));
    const seed = randomUUID();
    return { state: { format: 1, command: words, seed, screens: recorded }, isNew: true };
  }
  if (JSON.stringify(saved.command) !== JSON.stringify(words))
    throw usage(
      `${path} belongs to another command: signage playlist ${saved.command.join(' ')}.`,
      'Give --state a new file, or repeat that command.',
    );
  return { state: saved, isNew: false };
}
