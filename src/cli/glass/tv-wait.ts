import { secondMs } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../program/context.ts';
import { poll } from '../records/wait.ts';
import { isForPeople } from '../terminal/format.ts';
import { progressBar, withProgress } from '../terminal/progress.ts';
import { shellQuote } from '../terminal/text.ts';

/** Filters for a list of the service, about one screen or all that are waited for. */
interface Filters {
  screenId?: string;
  venueId?: string;
  selector?: string[];
}

/**
 * What the TVs of screens should do, and how it is read.
 *
 * @typeParam R record of the service about a screen and its TV
 * @typeParam S states of a TV; `none`: the screen has no TV
 */
export interface TvGoal<T, R, S extends string> {
  targets: readonly T[];
  /** Filters that match the records of all targets. */
  filters: Filters;
  /** What the TVs should get or show, as the end of a sentence: `version 8`. */
  what: string;
  /** What TVs do that have reached the goal: `have it`. */
  does: string;
  pollMs: number;
  pages(query: Filters): AsyncIterable<readonly R[]>;
  screenIdOf(record: R): string;
  stateOf(record: R | undefined, target: T): S;
  reached: readonly S[];
  /** The other states, and what they mean. */
  missing: readonly (readonly [state: S, text: string])[];
  /** Returns sentences about the TVs that have reached the goal. */
  describe(count: (state: S) => number, total: number): string;
  /** A sentence about what to do after a timeout. */
  advice?: string;
}

const maxShownNames = 10;
/**
 * Up to this number of screens, a request for each screen is cheaper than reading the whole list.
 */
const fewScreens = 5;
/** Maximum number of records that a wait reads per second, in pages of 200. */
const recordsPerSecond = 2000;
/** Minimum time between two progress lines without a terminal. */
const lineEveryMs = 10 * secondMs;

/** Formats the names of up to ten screens: `"Lobby/A", "Lobby/B" and 3 more`. */
export function namesText(screens: readonly { name: string }[]): string {
  const names = screens.slice(0, maxShownNames).map(({ name }) => `"${name}"`);
  const hidden = screens.length - names.length;
  return `${names.join(', ')}${hidden > 0 ? ` and ${hidden.toLocaleString('en')} more` : ''}`;
}

/** Waits for the TVs of screens. Ignores screens without a TV, unless no screen has a TV. */
export class TvWait<T extends { id: string; name: string }, R, S extends string> {
  readonly #call: CommandContext;
  readonly #goal: TvGoal<T, R, S>;
  readonly #states = new Map<string, S>();
  #line = { text: '', atMs: Number.NEGATIVE_INFINITY };

  constructor(call: CommandContext, goal: TvGoal<T, R, S>) {
    this.#call = call;
    this.#goal = goal;
  }

  /** Returns the last known state of a screen's TV. */
  stateOf(screenId: string): S | undefined {
    return this.#states.get(screenId);
  }

  /**
   * Waits until all TVs have reached the goal. Throws `wait_timed_out` (exit code 8) if none has in
   * time, `partly_failed` (9) if only some have, and `interrupted` on a signal.
   */
  async wait(timeoutMs: number): Promise<void> {
    const { targets, what, does, pollMs } = this.#goal;
    if (targets.length === 0) return;
    const everyMs = Math.max(pollMs, (targets.length / recordsPerSecond) * secondMs);
    try {
      const isComplete = await withProgress(this.#call, (show) =>
        poll(this.#call, { timeoutMs, what, everyMs }, async () => {
          await this.#look();
          const { reached, total } = this.#count();
          show(`${progressBar(reached, total)} ${does}`);
          this.#writeLine();
          return reached === total || undefined;
        }),
      );
      if (!isComplete) throw this.#timedOut(timeoutMs);
    } catch (error) {
      if (hasCode(error, 'interrupted')) this.#call.note(`Interrupted: ${this.summary()}`);
      throw error;
    }
  }

  /** Counts the TVs that have reached the goal, and names the screens whose TVs have not. */
  summary(): string {
    const { describe, missing } = this.#goal;
    const reached = describe((state) => this.#inState(state).length, this.#count().total);
    const groups = missing.flatMap(([state, text]) => {
      const screens = this.#inState(state);
      if (screens.length === 0) return [];
      return [`${screens.length.toLocaleString('en')} ${text}: ${namesText(screens)}`];
    });
    return groups.length === 0 ? reached : `${reached} Missing: ${groups.join('; ')}.`;
  }

  #inState(state: S): T[] {
    return this.#goal.targets.filter(({ id }) => this.stateOf(id) === state);
  }

  #isReached(id: string): boolean {
    const state = this.stateOf(id);
    return state !== undefined && this.#goal.reached.includes(state);
  }

  #count(): { reached: number; total: number } {
    const { targets } = this.#goal;
    const withTv = targets.filter(({ id }) => this.stateOf(id) !== 'none').length;
    const reached = targets.filter(({ id }) => this.#isReached(id)).length;
    return { reached, total: withTv || targets.length };
  }

  #timedOut(timeoutMs: number): SignageError {
    const { missing, advice = '' } = this.#goal;
    const [first] = missing.flatMap(([state]) => this.#inState(state));
    const seconds = Math.round(timeoutMs / secondMs);
    return new SignageError(
      this.#count().reached > 0 ? 'partly_failed' : 'wait_timed_out',
      `Timed out after ${seconds} s: ${this.summary()}`,
      { hint: `${advice}To find out why: signage doctor ${shellQuote(first?.name ?? '')}` },
    );
  }

  /** Writes a line of progress, if there is no terminal for a progress bar. */
  #writeLine(): void {
    const { io, common, clock } = this.#call;
    if (io.stderr.isTTY || !isForPeople(common.output)) return;
    const { reached, total } = this.#count();
    const text = `${reached.toLocaleString('en')} of ${total.toLocaleString('en')} ${this.#goal.does}.`;
    const nowMs = clock.now();
    const isTooSoon = nowMs - this.#line.atMs < lineEveryMs;
    if (reached === total || text === this.#line.text || isTooSoon) return;
    this.#line = { text, atMs: nowMs };
    this.#call.note(text);
  }

  async #look(): Promise<void> {
    const { targets, filters, pages, screenIdOf, stateOf } = this.#goal;
    const missing = targets.filter(({ id }) => !this.#isReached(id));
    const queries =
      missing.length <= fewScreens ? missing.map(({ id }) => ({ screenId: id })) : [filters];
    const found = new Map<string, R>();
    for (const query of queries)
      for await (const page of pages(query))
        for (const record of page) found.set(screenIdOf(record), record);
    for (const target of missing)
      this.#states.set(target.id, stateOf(found.get(target.id), target));
  }
}
