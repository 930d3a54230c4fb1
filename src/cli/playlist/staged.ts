import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { SignageError } from '../../domain/error.ts';
import type { Publication } from '../../domain/records/playlist.ts';
import type { CommandContext } from '../command/context.ts';
import {
  forEachRecord,
  type ItemResult,
  resultsOf,
  resultView,
  summarize,
} from '../command/for-each-record.ts';
import { confirmSelected } from '../options/select-screens.ts';
import { usage } from '../options/settings.ts';
import { member } from '../output/view.ts';
import { countText, span } from '../records/text.ts';
import { poll } from '../records/wait.ts';
import { withProgress } from '../terminal/progress.ts';
import type { WrittenPublication } from './publication.ts';
import { publishOver, restore } from './rollback.ts';
import {
  openRollout,
  type RecordedScreen,
  type RolloutState,
  writeState,
} from './rollout-state.ts';
import { countUnfetched, exceeded, newestEvent, PlaybackErrors } from './stage-limits.ts';
import { readStagePlan, type StagePlan } from './stages.ts';

const checkEveryMs = 5000;

type StagedState = RolloutState & { staged: NonNullable<RolloutState['staged']> };
type Result = ItemResult & { version?: number };

const hashOf = (text: string) => hash('sha256', text);

/** Opens the file of `--state`, or begins a rollout. Orders the screens by a hash of their ids. */
async function openStaged(
  call: CommandContext,
  names: readonly string[],
  { publication, writtenEnd }: WrittenPublication,
): Promise<StagedState> {
  const { state, isNew } = await openRollout(
    call,
    `publish --staged ${call.options.staged}`,
    names,
  );
  if (isNew) {
    const screens = state.screens.toSorted((a, b) => (hashOf(a.id) < hashOf(b.id) ? -1 : 1));
    const after = await newestEvent(call);
    const progress = { stage: 0, publishedAtMs: null, isRollingBack: false };
    return { ...state, screens, staged: { publication, writtenEnd, after, ...progress } };
  }
  const { staged } = state;
  // A relative end such as `7d` has another value now, so the text is compared.
  const isSame =
    staged?.writtenEnd === writtenEnd &&
    isDeepStrictEqual(staged.publication.items, publication.items);
  if (!isSame) throw usage(`${call.options.state} belongs to the publication of another playlist.`);
  return { ...state, staged };
}

/** One run of a publication in stages. */
class StagedPublication {
  readonly #call: CommandContext;
  readonly #plan: StagePlan;
  readonly #content: Publication;
  readonly #errors: PlaybackErrors;
  readonly #results = new Map<string, Result>();
  #state: StagedState;

  constructor(call: CommandContext, plan: StagePlan, state: StagedState) {
    this.#call = call;
    this.#plan = plan;
    this.#content = state.staged.publication;
    this.#state = state;
    this.#errors = new PlaybackErrors(call, state.staged.after);
  }

  /** The results so far, in the order in which the screens were changed. */
  get results(): Result[] {
    return [...this.#results.values()];
  }

  /** Publishes stage by stage. Throws `partly_failed` when a limit is exceeded. */
  async run(): Promise<void> {
    await this.#save({});
    if (this.#state.staged.isRollingBack) return this.#rollBack('It was stopped before');
    for (let stage = this.#state.staged.stage; stage < this.#plan.percents.length; stage++) {
      await this.#publish(stage);
      const { staged } = this.#state;
      if (staged.stage !== stage || staged.publishedAtMs === null)
        await this.#save({ stage, publishedAtMs: this.#call.clock.now() });
      const problem = await this.#hold(stage);
      if (problem === undefined) continue;
      const text = `Stopped after ${this.#nameOf(stage)}, because of ${problem}`;
      if (this.#call.options.rollback) return this.#rollBack(text);
      throw new SignageError('partly_failed', `${text}.`, {
        hint: 'The same command checks again and continues. With --rollback it undoes the publication.',
      });
    }
  }

  async #save(change: Partial<StagedState['staged']>): Promise<void> {
    this.#state = { ...this.#state, staged: { ...this.#state.staged, ...change } };
    await writeState(this.#call.options.state, this.#state);
  }

  #reached(stage: number): RecordedScreen[] {
    const { screens } = this.#state;
    const percent = this.#plan.percents[stage] ?? 100;
    return screens.slice(0, Math.ceil((screens.length * percent) / 100));
  }

  #nameOf(stage: number): string {
    const count = this.#reached(stage).length.toLocaleString('en');
    const total = countText(this.#state.screens.length, 'screen');
    return `stage ${stage + 1} of ${this.#plan.percents.length} (${count} of ${total})`;
  }

  async #change(
    screens: readonly RecordedScreen[],
    work: (screen: RecordedScreen) => Promise<string | { result: string; version: number }>,
  ): Promise<void> {
    await withProgress(this.#call, async (show) => {
      for await (const result of resultsOf<RecordedScreen, object>(this.#call, screens, work, show))
        this.#results.set(result.id, result);
    });
  }

  async #publish(stage: number): Promise<void> {
    const screens = this.#reached(stage).filter(({ id }) => !this.#results.has(id));
    this.#call.note(`Publishing ${this.#nameOf(stage)}.`);
    await this.#change(screens, (screen) => publishOnce(this.#call, screen, this.#content));
  }

  /**
   * Waits for `--hold`, and checks the limits meanwhile. Returns the first limit that is exceeded.
   */
  async #hold(stage: number): Promise<string | undefined> {
    const { clock, options } = this.#call;
    const endsAt = (this.#state.staged.publishedAtMs ?? clock.now()) + options.hold;
    const waiting = { timeoutMs: endsAt - clock.now(), what: 'a stage', everyMs: checkEveryMs };
    const problem = await withProgress(this.#call, (show) =>
      poll(this.#call, waiting, async () => {
        show(`Holding ${this.#nameOf(stage)} for another ${span(endsAt - clock.now())} …`);
        return this.#problem(stage, false);
      }),
    );
    return problem ?? this.#problem(stage, true);
  }

  /**
   * Returns the first limit that is exceeded. Checks `unfetched` only at the end of a stage,
   * because TVs need time to fetch.
   */
  async #problem(stage: number, isEnd: boolean): Promise<string | undefined> {
    const reached = this.#reached(stage);
    for (const limit of this.#plan.limits) {
      if (limit.of === 'unfetched' && !isEnd) continue;
      const share =
        limit.of === 'errors'
          ? { count: await this.#countErrors(reached), total: reached.length }
          : await countUnfetched(this.#call, this.#versions());
      const problem = exceeded(limit, share);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** Counts screens on which publishing failed, or whose TVs reported a playback error. */
  async #countErrors(reached: readonly RecordedScreen[]): Promise<number> {
    const failing = await this.#errors.read();
    return reached.filter(({ id }) => failing.has(id) || this.#results.get(id)?.result === 'failed')
      .length;
  }

  #versions(): Map<string, number> {
    return new Map(
      this.results.flatMap(({ id, version }) => (version === undefined ? [] : [[id, version]])),
    );
  }

  /**
   * Restores the earlier playlist of all screens, because an interrupted run may have published on
   * any of them.
   */
  async #rollBack(why: string): Promise<void> {
    await this.#save({ isRollingBack: true });
    this.#call.note(`${why}. Rolling back.`);
    await this.#change(this.#state.screens, (screen) => restore(this.#call, screen, this.#content));
    const failed = this.results.filter(({ result }) => result === 'failed').length;
    const outcome =
      failed === 0
        ? 'All screens have their earlier playlists again.'
        : `${countText(failed, 'screen')} could not be rolled back; the same command tries again.`;
    throw new SignageError('partly_failed', `${why}. ${outcome}`);
  }
}

/** Publishes unless another caller has changed the playlist. */
async function publishOnce(call: CommandContext, screen: RecordedScreen, content: Publication) {
  const made = await publishOver(call, screen, content);
  const version = made?.playlist.version ?? 0;
  const isNew = made?.isNew === true && version !== screen.version;
  return { result: isNew ? 'published' : 'unchanged', version };
}

/**
 * Publishes on a growing part of the screens, and stops when too many fail. Prints the results at
 * the end. With the file of `--state` it can continue later. Each change has the earlier version as
 * its precondition, so nothing is published twice and no other caller's playlist is overwritten.
 */
export async function publishStaged(
  call: CommandContext,
  names: readonly string[],
  written: WrittenPublication,
): Promise<number> {
  const plan = readStagePlan(call.options);
  const state = await openStaged(call, names, written);
  const { screens } = state;
  await confirmSelected(call, `Publish in ${countText(plan.percents.length, 'stage')} on`, screens);
  if (call.common.dryRun)
    return forEachRecord(call, screens, async (screen) => {
      await publishOver(call, screen, state.staged.publication);
      return undefined;
    });
  const publication = new StagedPublication(call, plan, state);
  let stopped: { error: unknown } | undefined;
  try {
    await publication.run();
  } catch (error) {
    stopped = { error };
  }
  const { results } = publication;
  await call.results.list(
    [results],
    resultView([member<{ version?: number }, 'version'>('version')]),
  );
  const exitCode = summarize(
    call,
    results.map(({ result }) => result),
  );
  call.note(
    `The earlier playlists are recorded in ${call.options.state}. The same command continues.`,
  );
  if (stopped) throw stopped.error;
  return exitCode;
}
