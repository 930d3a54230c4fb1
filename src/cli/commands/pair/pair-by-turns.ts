// Pairs the screens of a venue one after the other, with the TVs that show claims or wait.
import type { Screen, Venue } from '../../../client/entities.ts';
import { iso } from '../../../domain/clock.ts';
import { type ErrorCode, hasCode, SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../program/context.ts';
import { isFatal } from '../../program/exit-code.ts';
import type { PressedKey } from '../../terminal/keys.ts';
import { type LiveViewSize, line } from '../../terminal/live-view.ts';
import { countText } from '../../terminal/text.ts';
import { followTv } from './follow-tv.ts';
import { exitCodeFor } from './pair-many.ts';
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
import { askAgainCodes, askClaim, isRightTv } from './shown-claim.ts';

/** Statuses of a service that does not list waiting TVs. */
const unlistedStatuses: readonly unknown[] = [404, 405, 501];

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
    call.note(`TVs wait with the serial numbers of ${countText(expected.size, 'screen')}.`);
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
