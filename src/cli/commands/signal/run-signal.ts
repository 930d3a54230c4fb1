import type { StoredEvent } from '../../../client/entities.ts';
import { secondMs } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { maxSignalSeconds } from '../../../domain/records/signals.ts';
import { waitMsOf } from '../../glass/glass-wait.ts';
import { namesText, TvWait } from '../../glass/tv-wait.ts';
import { usage } from '../../input/settings.ts';
import { shownEpoch } from '../../input/time.ts';
import type { CommandContext } from '../../program/context.ts';
import { type ItemResult, printResults } from '../../records/for-each-record.ts';
import {
  confirmSelected,
  hasFilter,
  type Selected,
  selectScreens,
} from '../../records/select-screens.ts';
import { countText } from '../../terminal/text.ts';

type Targets = { screenIds: string[] } | { venueIds: string[] };

/** An answer to either request. */
interface Announced {
  since: string;
  notFound: string[];
  identifyUntil?: number | null;
  reloadId?: string;
}

/** Maximum number of ids of a request (docs/protocol.md §5.21). */
const idsAtOnce = 1000;
const pollMs = secondMs / 2;

/** What a command asks of TVs, and how they say that they did it. */
interface Signal {
  /** Beginning of the question before more than one screen. */
  action: string;
  send(targets: Targets): Promise<{ answer: Announced } | undefined>;
  /** What TVs have done, as in `2 of 3 TVs have drawn it`. */
  did: string;
  /** Type of the events of TVs that did it. `undefined`: TVs do not say that they did it. */
  type: string | undefined;
  /** The member that these events and the answer have in common. */
  name: 'identifyUntil' | 'reloadId';
}

/** Venues are named as a whole, so that the service keeps one row for each. */
function targetsOf(call: CommandContext, screens: readonly Selected[]): Targets[] {
  const isWhole = hasFilter(call) && call.options.selector.length === 0;
  const ids = [...new Set(screens.map(({ id, screen }) => (isWhole ? screen.venueId : id)))];
  const targets: Targets[] = [];
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const chunk = ids.slice(from, from + idsAtOnce);
    targets.push(isWhole ? { venueIds: chunk } : { screenIds: chunk });
  }
  return targets;
}

/** Waits until the TVs say that they did it, if the command waits. */
async function waitForTvs(
  call: CommandContext,
  screens: readonly Selected[],
  answers: readonly Announced[],
  { type, name, did }: Signal,
): Promise<void> {
  const without = screens.filter(({ screen }) => screen.deviceId === null);
  const timeoutMs = waitMsOf(call);
  const from = answers[0]?.since;
  const isWanted = call.options.wait !== undefined || without.length < screens.length;
  if (timeoutMs === undefined || type === undefined || from === undefined || !isWanted) {
    if (without.length > 0)
      call.note(`${countText(without.length, 'screen')} without a TV: ${namesText(without)}.`);
    return;
  }
  const values = new Set<unknown>(answers.map((answer) => answer[name]));
  const wait = new TvWait<Selected, StoredEvent, 'done' | 'silent' | 'none'>(call, {
    targets: screens,
    filters: {},
    what: 'the TVs',
    does: did,
    pollMs,
    async *pages({ screenId }) {
      const query = { type, from, ...(screenId !== undefined && { screenId }) };
      for await (const page of call.pages('listEvents', { query }))
        yield page.filter(({ event }) => values.has(event[name]));
    },
    screenIdOf: ({ screenId }) => screenId,
    stateOf: (found, { screen }) => (found ? 'done' : screen.deviceId === null ? 'none' : 'silent'),
    reached: ['done'],
    missing: [
      ['silent', 'not heard of'],
      ['none', 'without a TV'],
    ],
    describe: (count, total) =>
      `${count('done').toLocaleString('en')} of ${countText(total, 'TV')} ${total === 1 ? 'has' : 'have'} ${did}.`,
  });
  await wait.wait(timeoutMs);
  call.note(wait.summary());
}

async function runSignal(call: CommandContext, signal: Signal): Promise<number | undefined> {
  const { name: member } = signal;
  const { screens, single } = await selectScreens(call, call.args.screens);
  if (!single) await confirmSelected(call, signal.action, screens);
  const answers: Announced[] = [];
  const missing = new Set<string>();
  for (const targets of targetsOf(call, screens)) {
    const made = await signal.send(targets);
    if (!made) continue;
    answers.push(made.answer);
    for (const id of made.answer.notFound) missing.add(id);
  }
  const [answer] = answers;
  if (!answer) return undefined;
  const isMissing = ({ id, screen }: Selected) => missing.has(id) || missing.has(screen.venueId);
  let exitCode: number | undefined;
  if (single) {
    if (isMissing(single))
      throw new SignageError('screen_not_found', `There is no screen "${single.name}".`);
    const value = (made: Announced) => made[member];
    const shown = (made: Announced) => shownEpoch(made[member]);
    const columns = [{ name: member, value, shown }];
    await call.results.record(answer, { columns, nameOf: () => single.name });
  } else
    exitCode = await printResults(call, async function* (): AsyncGenerator<ItemResult> {
      for (const one of screens) {
        const { id, name, screen } = one;
        const result = screen.deviceId === null ? 'no TV' : 'asked';
        yield isMissing(one)
          ? { name, id, result: 'failed', error: 'There is no screen with this id.' }
          : { name, id, result, error: null };
      }
    });
  await waitForTvs(call, screens, answers, signal);
  return exitCode;
}

/** Runs `signage identify`. */
export async function runIdentify(call: CommandContext): Promise<number | undefined> {
  const { off, for: forMs, wait } = call.options;
  const seconds = off ? 0 : forMs / secondMs;
  if (!off && !(seconds >= 1 && seconds <= maxSignalSeconds && Number.isInteger(seconds)))
    throw usage('--for must be 1s to 10m, in whole seconds. To end it: --off');
  if (off && wait) throw usage('TVs do not say that they have stopped: leave out --wait.');
  return runSignal(call, {
    action: off ? 'Stop identifying' : 'Identify',
    send: (targets) => call.change('identifyTvs', { body: { ...targets, seconds } }),
    did: 'drawn it',
    type: off ? undefined : 'identified',
    name: 'identifyUntil',
  });
}

/** Runs `signage reload`. */
export const runReload = (call: CommandContext): Promise<number | undefined> =>
  runSignal(call, {
    action: 'Reload the players of',
    send: (targets) => call.change('reloadTvs', { body: targets }),
    did: 'started anew',
    type: 'app_started',
    name: 'reloadId',
  });
