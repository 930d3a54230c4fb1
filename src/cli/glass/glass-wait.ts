import type { ScreenStatus } from '../../client/entities.ts';
import { secondMs } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../program/context.ts';
import { poll } from '../records/wait.ts';
import { progressBar, withProgress } from '../terminal/progress.ts';
import { countText, shellQuote } from '../terminal/text.ts';

/** A screen that should show something else than before. */
interface GlassTarget {
  id: string;
  name: string;
}

/**
 * What is known of a screen. `given`: its TV has what is due, and does not report what it shows.
 * `idle`: nothing is due. `failed`: it shows what is beneath. `away`: it does not call. `none`:
 * there is no TV.
 */
type GlassState = 'shown' | 'given' | 'idle' | 'switching' | 'failed' | 'away' | 'none';

interface GlassWaitOptions {
  targets: readonly GlassTarget[];
  /** Filters for the list of screens. They match all targets. */
  filters: { venueId?: string };
  /** What the TVs should show, as the end of a sentence: `the takeover`. */
  what: string;
}

/** Default of `--wait` at a terminal. */
const defaultWaitMs = 60 * secondMs;
const pollMs = secondMs / 2;
/** Maximum number of screens that a wait reads per second. */
const screensPerSecond = 2000;
/** Up to this number of screens, a request for each is cheaper than reading the whole list. */
const fewScreens = 5;
const maxShownNames = 10;

/** Returns how long to wait for TVs, in milliseconds. `undefined`: not at all. */
export function waitMsOf(call: CommandContext): number | undefined {
  const { wait } = call.options;
  if (call.common.dryRun) return undefined;
  if (wait !== undefined) return wait || undefined;
  return call.io.stderr.isTTY ? defaultWaitMs : undefined;
}

function stateOf(status: ScreenStatus | undefined): GlassState {
  if (!status?.device) return 'none';
  const { layer, playlist, device, condition } = status;
  if (condition === 'idle') return 'idle';
  if (layer) return layer.state;
  if (layer === null) return 'away';
  // Services before this member say only what the TV has.
  return device.lastPlaylistVersion === playlist?.version ? 'given' : 'switching';
}

const done: readonly (GlassState | undefined)[] = ['shown', 'given', 'idle'];
const isDone = (state: GlassState | undefined) => done.includes(state);

/** What the states mean that are not the wanted one. */
const missingTexts = [
  ['away', 'offline or stopped'],
  ['switching', 'switching'],
  ['failed', 'showing what is beneath, because all of it fails'],
  ['none', 'without a TV'],
] as const;

function namesText(screens: readonly GlassTarget[]): string {
  const names = screens.slice(0, maxShownNames).map(({ name }) => `"${name}"`);
  const hidden = screens.length - names.length;
  return `${names.join(', ')}${hidden > 0 ? ` and ${hidden.toLocaleString('en')} more` : ''}`;
}

/**
 * Waits until TVs say that they show what is due. Ignores screens without a TV, if others have one.
 */
class GlassWait {
  readonly #call: CommandContext;
  readonly #options: GlassWaitOptions;
  readonly #states = new Map<string, GlassState>();

  constructor(call: CommandContext, options: GlassWaitOptions) {
    this.#call = call;
    this.#options = options;
  }

  async wait(timeoutMs: number): Promise<void> {
    const { targets, what } = this.#options;
    const everyMs = Math.max(pollMs, (targets.length / screensPerSecond) * secondMs);
    try {
      const isComplete = await withProgress(this.#call, (show) =>
        poll(this.#call, { timeoutMs, what: `TVs to show ${what}`, everyMs }, async () => {
          await this.#look();
          const { done, total } = this.#count();
          show(`${progressBar(done, total)} show ${what}`);
          return done === total || undefined;
        }),
      );
      if (!isComplete) throw this.#timedOut(timeoutMs);
      this.#call.note(this.#summary());
    } catch (error) {
      if (hasCode(error, 'interrupted')) this.#call.note(`Interrupted: ${this.#summary()}`);
      throw error;
    }
  }

  #inState(state: GlassState): GlassTarget[] {
    return this.#options.targets.filter(({ id }) => this.#states.get(id) === state);
  }

  #count(): { done: number; total: number } {
    const states = this.#options.targets.map(({ id }) => this.#states.get(id));
    const withTv = states.filter((state) => state !== 'none').length;
    return { done: states.filter(isDone).length, total: withTv || states.length };
  }

  #summary(): string {
    const { what } = this.#options;
    const { total } = this.#count();
    const shown = this.#inState('shown').length;
    const given = this.#inState('given').length;
    const main = `${shown.toLocaleString('en')} of ${countText(total, 'TV')} ${shown === 1 ? 'shows' : 'show'} ${what}.`;
    const has =
      given === 0
        ? ''
        : ` ${given.toLocaleString('en')} ${given === 1 ? 'has it, and does not report what it shows' : 'have it, and do not report what they show'}.`;
    const idle = this.#inState('idle').length;
    const nothing = idle === 0 ? '' : ` ${countText(idle, 'screen')} with nothing to show.`;
    const missing = missingTexts.flatMap(([state, text]) => {
      const screens = this.#inState(state);
      if (screens.length === 0) return [];
      return [`${screens.length.toLocaleString('en')} ${text}: ${namesText(screens)}`];
    });
    return `${main}${has}${nothing}${missing.length === 0 ? '' : ` Missing: ${missing.join('; ')}.`}`;
  }

  #timedOut(timeoutMs: number): SignageError {
    const isPartly = this.#count().done > 0;
    const [missing] = missingTexts.flatMap(([state]) => this.#inState(state));
    const seconds = Math.round(timeoutMs / secondMs);
    return new SignageError(
      isPartly ? 'partly_failed' : 'wait_timed_out',
      `Timed out after ${seconds} s: ${this.#summary()}`,
      { hint: `To find out why: signage doctor ${shellQuote(missing?.name ?? '')}` },
    );
  }

  async #look(): Promise<void> {
    const { targets, filters } = this.#options;
    const missing = targets.filter(({ id }) => !isDone(this.#states.get(id)));
    const queries =
      missing.length <= fewScreens ? missing.map(({ id }) => ({ screenId: id })) : [filters];
    const found = new Map<string, ScreenStatus>();
    for (const query of queries)
      for await (const page of this.#call.pages('listScreenStatus', { query }))
        for (const status of page) found.set(status.screen.id, status);
    for (const { id } of missing) this.#states.set(id, stateOf(found.get(id)));
  }
}

/**
 * Waits until the TVs of the screens say that they show what is due, if the command waits. Throws
 * `wait_timed_out` (exit code 8) if none says so in time, `partly_failed` (9) if only some do.
 */
export async function waitForGlass(
  call: CommandContext,
  screens: readonly {
    id: string;
    name: string;
    screen: { venueId: string; deviceId: string | null };
  }[],
  what: string,
): Promise<void> {
  const timeoutMs = waitMsOf(call);
  if (timeoutMs === undefined || screens.length === 0) return;
  const hasTv = screens.some(({ screen }) => screen.deviceId !== null);
  if (!hasTv && call.options.wait === undefined) return;
  const [venueId, ...others] = new Set(screens.map(({ screen }) => screen.venueId));
  const filters = others.length === 0 && venueId !== undefined ? { venueId } : {};
  await new GlassWait(call, { targets: screens, filters, what }).wait(timeoutMs);
}
