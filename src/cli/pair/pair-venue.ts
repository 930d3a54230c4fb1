import { iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { failedExitCode, isFatal } from '../command/exit-code.ts';
import { usage } from '../options/settings.ts';
import { findVenue, type Venue } from '../records/find.ts';
import { typedName } from '../records/names.ts';
import { countText, shellQuote } from '../records/text.ts';
import type { Key } from '../terminal/keys.ts';
import type { LiveViewSize } from '../terminal/live-view.ts';
import { followTv } from './follow-tv.ts';
import { makeUpdate, type PairUpdate } from './pair-update.ts';
import {
  describeUnfinished,
  newPairing,
  type Pairing,
  type PairSession,
  placeName,
  signalsOf,
} from './pairing.ts';
import { showUpdates, updatesWithOutput } from './pairing-output.ts';
import { askVenue } from './place/choose-place.ts';
import { warnOfOtherCodes } from './place/prepare-place.ts';
import { renderVenue, renderVenueEnd } from './render-venue.ts';
import { handleKey, type VenueSelection } from './venue-selection.ts';

/** Limit of simultaneous long polls, one for each screen. */
const maxConcurrent = 200;

async function venueOf(call: CommandContext): Promise<Venue> {
  const { args, options } = call;
  if (
    args.screen !== undefined ||
    options.screen !== undefined ||
    options.create ||
    options.replace ||
    options.qr ||
    options.qrWeb ||
    options.tv !== undefined
  ) {
    const meant = args.screen ?? options.screen;
    throw usage(
      '--all pairs all screens of a venue. Give it with --venue, without a screen, --create, --replace, --qr, --qr-web or --tv.',
      meant && `Did you mean signage pair --venue ${shellQuote(meant.replace(/\/.*/s, ''))} --all?`,
    );
  }
  return options.venue === undefined
    ? ((await askVenue(call, undefined)) as Venue)
    : findVenue(call, options.venue);
}

/**
 * Merges the output of several generators. At most `atOnce` of them run at a time. On an error,
 * calls `stop`, waits for all generators to end, then throws the error.
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

/** Pairs one of several screens. An error that concerns only this screen becomes an update. */
async function* pairOneOfMany(
  session: PairSession,
  pairing: Pairing,
  failures: Map<Pairing, SignageError>,
): AsyncGenerator<PairUpdate> {
  try {
    yield* followTv(session, pairing);
  } catch (error) {
    if (isFatal(error)) throw error;
    const failure = session.call.shownError(error as SignageError);
    failures.set(pairing, failure);
    pairing.state = 'failed';
    yield makeUpdate(pairing, 'failed', iso(session.call.clock.now()), failure.message);
  }
}

/** Pairs the screens concurrently. On an error, stops all of them. */
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

/** Reports the screens that were not paired. Returns the exit code, or throws `wait_timed_out`. */
function outcome({ call }: PairSession, failures: ReadonlyMap<Pairing, SignageError>): number {
  for (const [, error] of failures) call.note(error.message);
  const timedOut = [...failures].filter(([, { code }]) => code === 'wait_timed_out');
  if (timedOut.length === 0) return failures.size > 0 ? failedExitCode : 0;
  const names = timedOut.map(([{ place }]) => placeName(place)).join(', ');
  throw new SignageError('wait_timed_out', `Timed out before all screens were paired: ${names}.`, {
    hint: 'Unused codes were cancelled.',
  });
}

/** Says what remains when the command ends early, and how to continue. */
function noteUnfinished({ call }: PairSession, venue: Venue, pairings: readonly Pairing[]): void {
  const done = pairings.filter(({ state }) => state === 'done').length;
  call.note(`${done} of ${pairings.length} screens are paired.`);
  const unfinished = pairings.filter(({ state, code }) => state === 'going' && code !== undefined);
  const isCancelled = ({ code }: Pairing) => code?.status === 'cancelled';
  const cancelled = unfinished.filter(isCancelled).length;
  if (cancelled > 0) {
    const again = `signage pair --venue ${shellQuote(typedName(venue))} --all`;
    call.note(
      `The unused codes of ${countText(cancelled, 'screen')} were cancelled. To go on: ${again}`,
    );
  }
  for (const pairing of unfinished)
    if (!isCancelled(pairing)) call.note(describeUnfinished(pairing));
}

/** Pairs all screens of a venue that have no TV, concurrently. Returns the exit code. */
export async function pairVenue(session: PairSession): Promise<number> {
  const { call } = session;
  const venue = await venueOf(call);
  const screens = await call.all('listScreens', {
    query: { venueId: venue.id, state: 'provisioning' },
  });
  if (screens.length === 0)
    call.note(`Nothing to pair: no screen of "${venue.name}" is waiting for a TV.`);
  warnOfOtherCodes(call, screens);
  if (call.common.dryRun) {
    for (const { id } of screens) await call.change('createCode', { body: { screenId: id } });
    return 0;
  }
  const pairings = screens.map((screen) => newPairing({ venue, screen, changes: [] }));
  const failures = new Map<Pairing, SignageError>();
  try {
    const selection: VenueSelection = { selected: undefined, filter: '' };
    const render = (size: LiveViewSize) =>
      renderVenue(venue.name, pairings, session, selection, size);
    const display = {
      render: pairings.length > 0 ? render : undefined,
      last: () => renderVenueEnd(venue.name, pairings, session),
      problemText: ({ place, problem }: Pairing) => problem && `${placeName(place)}: ${problem}`,
      onKey: (key: Key) => handleKey(selection, pairings, key),
    };
    const follow = (shown: PairSession) => pairAll(shown, pairings, failures);
    await showUpdates(call, 'list', updatesWithOutput(session, display, follow));
  } catch (error) {
    noteUnfinished(session, venue, pairings);
    throw error;
  }
  for (const { left } of pairings) if (left !== undefined) call.note(left);
  return outcome(session, failures);
}
