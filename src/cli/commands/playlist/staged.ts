import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { SignageError } from '../../../domain/error.ts';
import type { WrittenPublication } from '../../content/publication.ts';
import { usage } from '../../input/settings.ts';
import { member } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import type { ChangeResult } from '../../records/change-many.ts';
import { confirmSelected } from '../../records/select-screens.ts';
import { poll } from '../../records/wait.ts';
import { withProgress } from '../../terminal/progress.ts';
import { countText, span } from '../../terminal/text.ts';
import { openRollout, type RecordedScreen, Rollout, type RolloutState } from './rollout.ts';
import { countUnfetched, exceeded, newestEvent, PlaybackErrors } from './stage-limits.ts';
import { readStagePlan, type StagePlan } from './stages.ts';

const checkEveryMs = 5000;

type StagedState = RolloutState & { staged: NonNullable<RolloutState['staged']> };

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
  readonly #errors: PlaybackErrors;
  readonly #rollout: Rollout<StagedState>;

  constructor(call: CommandContext, plan: StagePlan, rollout: Rollout<StagedState>) {
    this.#call = call;
    this.#plan = plan;
    this.#rollout = rollout;
    this.#errors = new PlaybackErrors(call, rollout.state.staged.after);
  }

  get #staged(): StagedState['staged'] {
    return this.#rollout.state.staged;
  }

  /** Publishes stage by stage. Throws `partly_failed` when a limit is exceeded. */
  async run(): Promise<void> {
    await this.#save({});
    if (this.#staged.isRollingBack) return this.#rollBack('It was stopped before');
    for (let stage = this.#staged.stage; stage < this.#plan.percents.length; stage++) {
      await this.#publish(stage);
      if (this.#staged.stage !== stage || this.#staged.publishedAtMs === null)
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
    const { state } = this.#rollout;
    await this.#rollout.save({ ...state, staged: { ...state.staged, ...change } });
  }

  #reached(stage: number): RecordedScreen[] {
    const { screens } = this.#rollout.state;
    const percent = this.#plan.percents[stage] ?? 100;
    return screens.slice(0, Math.ceil((screens.length * percent) / 100));
  }

  #nameOf(stage: number): string {
    const count = this.#reached(stage).length.toLocaleString('en');
    const total = countText(this.#rollout.state.screens.length, 'screen');
    return `stage ${stage + 1} of ${this.#plan.percents.length} (${count} of ${total})`;
  }

  async #publish(stage: number): Promise<void> {
    this.#call.note(`Publishing ${this.#nameOf(stage)}.`);
    const { results } = this.#rollout;
    const reached = this.#reached(stage);
    for (const screen of reached)
      if (screen.changedTo !== undefined && !results.has(screen.id))
        this.#rollout.keep(screen, 'unchanged', screen.changedTo);
    const rest = reached.filter(({ id }) => !results.has(id));
    const change = { action: 'publish' as const, ...this.#staged.publication };
    await this.#rollout.change(rest, change, { isRecorded: true });
  }

  /**
   * Waits for `--hold`, and checks the limits meanwhile. Returns the first limit that is exceeded.
   */
  async #hold(stage: number): Promise<string | undefined> {
    const { clock, options } = this.#call;
    const endsAt = (this.#staged.publishedAtMs ?? clock.now()) + options.hold;
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
    return reached.filter(
      ({ id }) => failing.has(id) || this.#rollout.results.get(id)?.result === 'failed',
    ).length;
  }

  #versions(): Map<string, number> {
    return new Map(
      [...this.#rollout.results.values()].flatMap(({ id, version }) =>
        version === undefined ? [] : [[id, version]],
      ),
    );
  }

  /** Publishes a version again. Returns the screens on which it has expired. */
  async #restore(screens: readonly RecordedScreen[], version: number): Promise<RecordedScreen[]> {
    const outcomes = await this.#rollout.change(screens, { action: 'rollback', to: version });
    return outcomes.flatMap(({ screen, outcome }) =>
      'code' in outcome && outcome.code === 'invalid_request' ? [screen] : [],
    );
  }

  /**
   * Restores the earlier playlists of all screens that were published on. Withdraws the new one
   * where there was none, or where the earlier one has expired.
   */
  async #rollBack(why: string): Promise<void> {
    await this.#save({ isRollingBack: true });
    this.#call.note(`${why}. Rolling back.`);
    const byVersion = new Map<number | null, RecordedScreen[]>();
    for (const screen of this.#rollout.state.screens) {
      const { id, name, version, changedTo } = screen;
      if (changedTo === undefined) this.#rollout.keep(screen, 'unchanged');
      // Only where nobody has changed it since.
      else
        byVersion.set(version, [
          ...(byVersion.get(version) ?? []),
          { id, name, version: changedTo },
        ]);
    }
    for (const [version, screens] of byVersion) {
      const withdrawn = version === null ? screens : await this.#restore(screens, version);
      await this.#rollout.change(withdrawn, { action: 'withdraw' }, { changed: 'rolled back' });
    }
    const failed = [...this.#rollout.results.values()].filter(
      ({ result }) => result === 'failed',
    ).length;
    const outcome =
      failed === 0
        ? 'All screens have their earlier playlists again.'
        : `${countText(failed, 'screen')} could not be rolled back; the same command tries again.`;
    throw new SignageError('partly_failed', `${why}. ${outcome}`);
  }
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
  const rollout = new Rollout(call, state);
  if (call.common.dryRun) {
    await rollout.change(screens, { action: 'publish', ...state.staged.publication });
    return 0;
  }
  const publication = new StagedPublication(call, plan, rollout);
  return rollout.run(() => publication.run(), {
    columns: [member<ChangeResult, 'version'>('version')],
    advice: 'The same command continues.',
  });
}
