import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { publication } from '../../../domain/playlists/playlist.ts';
import { stateFile } from '../../connection/state-file.ts';
import { versionOn } from '../../content/publication.ts';
import { usage } from '../../input/settings.ts';
import type { Column } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import {
  type ChangeResult,
  changeMany,
  changeResult,
  type PlaylistChange,
  type ScreenOutcome,
} from '../../records/change-many.ts';
import { mapRecords, resultView, summarize } from '../../records/for-each-record.ts';
import {
  hasFilter,
  type Selected,
  selectionFilters,
  selectScreens,
} from '../../records/select-screens.ts';
import { withProgress } from '../../terminal/progress.ts';

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

const rolloutFile = (path: string) =>
  stateFile<RolloutState>(path, {
    parse: (content) => rolloutState.parse(content),
    use: { what: '--state' },
    remedy: 'Give --state a new file.',
    isSecret: false,
    indent: 2,
  });

/** Returns the state with the versions that the rollout has made. */
function withChanges<S extends RolloutState>(
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

interface RolloutChange {
  /** Records the versions that are made, as those of the rollout. */
  isRecorded?: boolean;
  /** The word for a changed screen. Default: that of the action. */
  changed?: string;
}

/** A rollout that runs: its state, which is saved after each call, and the results so far. */
export class Rollout<S extends RolloutState> {
  readonly #call: CommandContext;
  /** By the ids of the screens. */
  readonly results = new Map<string, ChangeResult>();
  state: S;

  constructor(call: CommandContext, state: S) {
    this.#call = call;
    this.state = state;
  }

  async save(state: S = this.state): Promise<void> {
    this.state = state;
    await rolloutFile(this.#call.options.state).write(state);
  }

  /** Adds the result of a screen that already is as it should be. */
  keep({ id, name }: RecordedScreen, result: string, version?: number): void {
    this.results.set(id, { name, id, result, ...(version && { version }), error: null });
  }

  /** Changes screens, and saves what was done after each call. Changes nothing with `--dry-run`. */
  change(
    screens: readonly RecordedScreen[],
    change: PlaylistChange,
    { isRecorded = false, changed }: RolloutChange = {},
  ): Promise<ScreenOutcome<RecordedScreen>[]> {
    return withProgress(this.#call, async (show) => {
      const outcomes: ScreenOutcome<RecordedScreen>[] = [];
      const { seed } = this.state;
      for await (const page of changeMany(this.#call, screens, change, { show, seed })) {
        for (const one of page) {
          this.results.set(one.screen.id, changeResult(one, change.action, changed));
          outcomes.push(one);
        }
        await this.save(isRecorded ? withChanges(this.state, page) : this.state);
      }
      return outcomes;
    });
  }

  /**
   * Prints the results of all screens after the changes of `work`, and also if it fails. Returns
   * the exit code.
   *
   * @param advice how to continue, for a note
   */
  async run(
    work: () => Promise<unknown>,
    { columns = [], advice }: { columns?: readonly Column<ChangeResult>[]; advice: string },
  ): Promise<number> {
    let stopped: { error: unknown } | undefined;
    try {
      await work();
    } catch (error) {
      stopped = { error };
    }
    const results = this.state.screens.flatMap(({ id }) => this.results.get(id) ?? []);
    await this.#call.results.list([results], resultView(columns));
    const words = results.map(({ result }) => result);
    const exitCode = summarize(this.#call, words);
    this.#call.note(`The earlier playlists are recorded in ${this.#call.options.state}. ${advice}`);
    if (stopped) throw stopped.error;
    return exitCode;
  }
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
