import { iso } from '../../../domain/clock.ts';
import { hasCode, SignageError } from '../../../domain/error.ts';
import { failedExitCode, isFatal } from '../../program/exit-code.ts';
import type { PressedKey } from '../../terminal/keys.ts';
import type { LiveViewSize } from '../../terminal/live-view.ts';
import { countText } from '../../terminal/text.ts';
import { followTv } from './follow-tv.ts';
import {
  describeUnfinished,
  makeUpdate,
  type Pairing,
  type PairSession,
  type PairUpdate,
  placeName,
  signalsOf,
} from './pairing.ts';
import { showUpdates, updatesWithOutput } from './pairing-output.ts';
import { handleKey, renderVenue, renderVenueEnd, type VenueSelection } from './render-venue.ts';

/** Maximum number of simultaneous long polls. Each screen needs one long poll. */
const maxConcurrent = 200;

/**
 * Merges the output of several generators. At most `atOnce` generators run at a time. After an
 * error, calls `stop`, waits for all generators to end, then throws the error.
 */
export async function* merge<T>(
  sources: readonly AsyncGenerator<T>[],
  atOnce: number,
  stop: () => void,
): AsyncGenerator<T> {
  const pending = new Map<
    AsyncGenerator<T>,
    Promise<{ source: AsyncGenerator<T>; result: IteratorResult<T> }>
  >();
  const ask = (source: AsyncGenerator<T>) => {
    const answer = source.next().then((result) => ({ source, result }));
    // Prevents an unhandled rejection: `Promise.race` may throw another error first.
    answer.catch(() => {});
    pending.set(source, answer);
  };
  const waiting = sources.slice(atOnce);
  try {
    for (const source of sources.slice(0, atOnce)) ask(source);
    while (pending.size > 0) {
      const { source, result } = await Promise.race(pending.values());
      if (result.done) pending.delete(source);
      else yield result.value;
      const next = result.done ? waiting.shift() : source;
      if (next) ask(next);
    }
  } finally {
    stop();
    await Promise.allSettled(pending.values());
    await Promise.allSettled([...pending.keys()].map((source) => source.return(undefined)));
  }
}

/** Pairs one of several screens. Yields an update for an error that concerns only this screen. */
async function* pairOneOfMany(
  session: PairSession,
  pairing: Pairing,
  failures: Map<Pairing, SignageError>,
): AsyncGenerator<PairUpdate> {
  try {
    yield* followTv(session, pairing);
  } catch (error) {
    // After too many unknown claims, the service rejects further offers. TVs that have an offer can
    // still register.
    if (isFatal(error) && !hasCode(error, 'too_many_attempts')) throw error;
    const failure = session.call.shownError(error as SignageError);
    failures.set(pairing, failure);
    pairing.state = 'failed';
    yield makeUpdate(pairing, 'failed', iso(session.call.clock.now()), failure.message);
  }
}

/** Pairs the screens concurrently. After an error that concerns all screens, stops all pairings. */
function pairAll(
  session: PairSession,
  pairings: readonly Pairing[],
  failures: Map<Pairing, SignageError>,
): AsyncGenerator<PairUpdate> {
  const stop = new AbortController();
  const signals = signalsOf(session.call, AbortSignal.any([session.signal, stop.signal]));
  const sources = pairings.map((one) => pairOneOfMany({ ...session, ...signals }, one, failures));
  return merge(sources, maxConcurrent, () => stop.abort());
}

/** Returns the exit code for the screens that were not paired, or throws `wait_timed_out`. */
export function exitCodeFor(failures: ReadonlyMap<Pairing, SignageError>): number {
  const timedOut = [...failures].filter(([, { code }]) => code === 'wait_timed_out');
  if (timedOut.length === 0) return failures.size > 0 ? failedExitCode : 0;
  const names = timedOut.map(([{ place }]) => placeName(place)).join(', ');
  throw new SignageError('wait_timed_out', `Timed out before all screens were paired: ${names}.`, {
    hint: 'Unused codes were cancelled.',
  });
}

/**
 * When the command ends early, prints the number of paired screens, the remaining codes, and the
 * command that continues (`again`).
 */
function noteUnfinished({ call }: PairSession, pairings: readonly Pairing[], again: string): void {
  const done = pairings.filter(({ state }) => state === 'done').length;
  call.note(`${done} of ${pairings.length} screens are paired.`);
  const unfinished = pairings.filter(
    ({ state, code }) => state === 'running' && code !== undefined,
  );
  const isCancelled = ({ code }: Pairing) => code?.status === 'cancelled';
  const cancelled = unfinished.filter(isCancelled).length;
  if (cancelled > 0)
    call.note(
      `The unused codes of ${countText(cancelled, 'screen')} were cancelled. To continue: ${again}`,
    );
  for (const pairing of unfinished)
    if (!isCancelled(pairing)) call.note(describeUnfinished(pairing));
}

/**
 * Pairs several screens concurrently, and shows them in one list below `title`. `again` is the
 * command that continues after an interruption. Returns the exit code, or throws `wait_timed_out`.
 */
export async function pairMany(
  session: PairSession,
  title: string,
  pairings: readonly Pairing[],
  again: string,
): Promise<number> {
  const { call } = session;
  const failures = new Map<Pairing, SignageError>();
  try {
    const selection: VenueSelection = { selected: undefined, filter: '' };
    const render = (size: LiveViewSize) => renderVenue(title, pairings, session, selection, size);
    const display = {
      render: pairings.length > 0 ? render : undefined,
      last: () => renderVenueEnd(title, pairings, session),
      problemText: ({ place, problem }: Pairing) => problem && `${placeName(place)}: ${problem}`,
      onKey: (key: PressedKey) => handleKey(selection, pairings, key),
    };
    const follow = (shown: PairSession) => pairAll(shown, pairings, failures);
    await showUpdates(call, 'list', updatesWithOutput(session, display, follow));
  } catch (error) {
    noteUnfinished(session, pairings, again);
    throw error;
  }
  for (const { followUp } of pairings) if (followUp !== undefined) call.note(followUp);
  for (const [, { message }] of failures) call.note(message);
  return exitCodeFor(failures);
}
