import type { Screen, Venue } from '../../../client/entities.ts';
import { iso } from '../../../domain/clock.ts';
import { type ErrorCode, hasCode, SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../program/context.ts';
import { failedExitCode, isFatal } from '../../program/exit-code.ts';
import type { PressedKey } from '../../terminal/keys.ts';
import { type LiveViewSize, line } from '../../terminal/live-view.ts';
import { countText } from '../../terminal/text.ts';
import { followTv } from './follow-tv.ts';
import {
  describeUnfinished,
  makeUpdate,
  newPairing,
  type Pairing,
  type PairSession,
  type PairUpdate,
  placeName,
  restartTimeout,
  signalsOf,
} from './pairing.ts';
import { showUpdates, updatesWithOutput } from './pairing-output.ts';
import { renderPaired, renderPairing } from './render-pairing.ts';
import { handleKey, renderVenue, renderVenueEnd, type VenueSelection } from './render-venue.ts';
import { askAgainCodes, askClaim, isRightTv } from './shown-claim.ts';

/** Statuses of a service that does not list waiting TVs. */
const unlistedStatuses: readonly unknown[] = [404, 405, 501];

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
function exitCodeFor(failures: ReadonlyMap<Pairing, SignageError>): number {
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

/**
 * Offers the screen to the TV, and follows the TV. Throws `pairing_code_cancelled` after Escape.
 */
async function* followOffered(
  session: PairSession,
  pairing: Pairing,
): AsyncGenerator<PairUpdate[]> {
  const { call, waitFor } = session;
  const escapePressed = new AbortController();
  const turn: PairSession = {
    ...restartTimeout(session),
    ...signalsOf(call, AbortSignal.any([session.signal, escapePressed.signal])),
  };
  const display = {
    render: (size: LiveViewSize) => [
      ...renderPairing(pairing, turn, undefined, size),
      line('Esc: cancel, and ask for a claim again', 'faint'),
    ],
    last: () => (pairing.state === 'done' ? renderPaired(pairing, waitFor).slice(-1) : []),
    problemText: ({ problem }: Pairing) => problem,
    onKey({ name }: PressedKey) {
      if (name === 'escape') escapePressed.abort();
    },
  };
  try {
    yield* updatesWithOutput(turn, display, (shown) => followTv(shown, pairing));
  } catch (error) {
    if (!hasCode(error, 'interrupted') || session.signal.aborted) throw error;
    const isCancelled = pairing.code?.status === 'cancelled';
    const message = isCancelled ? 'The offer was cancelled.' : describeUnfinished(pairing);
    throw new SignageError('pairing_code_cancelled', message);
  }
}

/**
 * Errors that may not recur with another claim or another attempt. They do not concern the screen.
 */
const passingCodes: readonly ErrorCode[] = [
  ...askAgainCodes,
  'pairing_code_cancelled',
  'pairing_code_expired',
  'wait_timed_out',
];

/** Progress of the command. Mutable, because it is also read after an error. */
interface Turns {
  /** The pairing of the current or last turn. */
  current: Pairing | undefined;
  paired: number;
  failures: Map<Pairing, SignageError>;
  /** By screen id: the claims of the waiting TVs whose serial number the screen expects. */
  expected: ReadonlyMap<string, readonly string[]>;
}

/** Returns the claims of waiting TVs that screens expect. A service may list none. */
async function expectedClaims(call: CommandContext, venueId: string): Promise<Turns['expected']> {
  const claims = await call.all('listClaims', { query: { venueId } }).catch((error: unknown) => {
    if (!unlistedStatuses.includes((error as SignageError).status)) throw error;
    return [];
  });
  const expected = new Map<string, string[]>();
  for (const { expectedScreenId: id, claim } of claims)
    if (id) expected.set(id, [...(expected.get(id) ?? []), claim]);
  return expected;
}

/**
 * Returns why no TV is proposed for a screen. Anybody can send a serial number, so of several TVs
 * with the same one, none is.
 */
function whyNoneProposed(claims: readonly string[], screen: string): string | undefined {
  if (claims.length === 1) return undefined;
  if (claims.length === 0)
    return `No TV that waits has the serial number that "${screen}" expects.`;
  return `${claims.length} TVs that wait have the serial number that "${screen}" expects. Pair the right one: --tv CLAIM`;
}

/**
 * Asks for claims until a TV is paired with the screen, the person skips the screen, or another
 * claim would not help.
 */
async function* turnOf(
  session: PairSession,
  { venue, screen, message }: { venue: Venue; screen: Screen; message: string },
  turns: Turns,
): AsyncGenerator<PairUpdate[]> {
  const { call } = session;
  const place = { venue, screen, changes: [] };
  const [only, ...others] = turns.expected.get(screen.id) ?? [];
  let expected = others.length > 0 ? undefined : only;
  for (let failed: Pairing | undefined; ; ) {
    const first = expected;
    expected = undefined;
    const claim =
      first !== undefined && (await isRightTv(call, first, place))
        ? first
        : await askClaim(call, place, { message, flag: '--claims-file', canSkip: true });
    if (claim === undefined) return;
    if (call.common.dryRun) {
      await call.change('offerClaim', { params: { claim }, body: { screenId: screen.id } });
      return;
    }
    if (failed) turns.failures.delete(failed);
    const pairing = newPairing(place, claim);
    turns.current = pairing;
    try {
      yield* followOffered(session, pairing);
      turns.paired++;
      return;
    } catch (error) {
      const canRepeat = passingCodes.some((code) => hasCode(error, code));
      if (!canRepeat && isFatal(error)) throw error;
      const failure = call.shownError(error as SignageError);
      turns.failures.set(pairing, failure);
      pairing.state = 'failed';
      failed = pairing;
      call.note(failure.message);
      yield [makeUpdate(pairing, 'failed', iso(call.clock.now()), failure.message)];
      if (!canRepeat || pairing.code?.status === 'used') return;
    }
  }
}

/**
 * Pairs the screens of a venue one after the other. Asks for the claim that each TV shows. An empty
 * line skips the screen. `again` is the command that continues after an interruption. Returns the
 * exit code, or throws `wait_timed_out`.
 */
export async function pairByTurns(
  session: PairSession,
  venue: Venue,
  screens: readonly Screen[],
  again: string,
): Promise<number> {
  const { call } = session;
  const expected = await expectedClaims(call, venue.id);
  const turns: Turns = { current: undefined, paired: 0, failures: new Map(), expected };
  if (expected.size > 0)
    call.note(`${countText(expected.size, 'TV')} that wait have the serial number of a screen.`);
  async function* updates(): AsyncGenerator<PairUpdate[]> {
    for (const [at, screen] of screens.entries()) {
      const name = placeName({ venue, screen, changes: [] });
      const claims = expected.get(screen.id) ?? [];
      const why = whyNoneProposed(claims, name);
      if (why !== undefined && call.common.yes && !call.prompter.canAsk) {
        const failure = new SignageError('claim_not_found', why);
        turns.failures.set(newPairing({ venue, screen, changes: [] }), failure);
        call.note(failure.message);
        continue;
      }
      const message = `${name} (${at + 1} of ${screens.length}). Claim on its TV, or Enter to skip:`;
      yield* turnOf(session, { venue, screen, message }, turns);
    }
  }
  try {
    await showUpdates(call, 'list', updates());
  } catch (error) {
    const { current } = turns;
    if (current?.state === 'running' && current.code && current.code.status !== 'cancelled')
      call.note(describeUnfinished(current));
    call.note(
      `Paired ${turns.paired} of ${countText(screens.length, 'screen')}. To continue: ${again}`,
    );
    throw error;
  }
  if (screens.length > 0 && !call.common.dryRun)
    call.note(`Paired ${turns.paired} of ${countText(screens.length, 'screen')}.`);
  return exitCodeFor(turns.failures);
}
