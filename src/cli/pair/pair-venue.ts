import { iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { exitCodeOf } from '../command/exit-code.ts';
import { usage } from '../options/settings.ts';
import { findVenue, type Venue } from '../records/find.ts';
import { isWatched, type LiveViewSize, openLiveView } from '../terminal/live-view.ts';
import { followTv } from './follow-tv.ts';
import { merge } from './merge.ts';
import type { PairSession } from './pair-session.ts';
import { makeUpdate, type PairUpdate } from './pair-update.ts';
import { describeUnfinished, newPairing, type Pairing, placeName } from './pairing.ts';
import { askVenue } from './place/choose-venue.ts';
import { renderVenue } from './render-venue.ts';
import { noteCode, showUpdates } from './show-updates.ts';

/** Limit of simultaneous long polls, one for each screen. */
const maxConcurrent = 200;
const failedExitCode = 9;
/** Exit codes of errors after which no other screen can succeed. */
const fatalExitCodes = [1, 4, 7];

async function venueOf(call: CommandContext): Promise<Venue> {
  const { args, options } = call;
  if (
    args.screen !== undefined ||
    options.screen !== undefined ||
    options.create ||
    options.replace ||
    options.qr
  ) {
    throw usage(
      '--all pairs all screens of a venue. Give it with --venue, without a screen, --create, --replace or --qr.',
    );
  }
  return options.venue === undefined
    ? ((await askVenue(call, undefined)) as Venue)
    : findVenue(call, options.venue);
}

/** Pairs one of several screens. An error of this screen alone becomes an update. */
async function* pairOneOfMany(
  session: PairSession,
  pairing: Pairing,
  failures: Map<Pairing, SignageError>,
): AsyncGenerator<PairUpdate> {
  try {
    yield* followTv(session, pairing);
  } catch (error) {
    if (
      !(error instanceof SignageError) ||
      error.code === 'interrupted' ||
      fatalExitCodes.includes(exitCodeOf(error))
    )
      throw error;
    failures.set(pairing, error);
    pairing.state = 'failed';
    yield makeUpdate(pairing, 'failed', iso(session.call.clock.now()), error.message);
  }
}

/** Passes the updates of all screens on, and draws the live view or prints notes on stderr. */
async function* updatesWithOutput(
  session: PairSession,
  { name }: Venue,
  pairings: readonly Pairing[],
  failures: Map<Pairing, SignageError>,
): AsyncGenerator<PairUpdate[]> {
  const { call, waitFor } = session;
  const render = (size: LiveViewSize) => renderVenue(name, pairings, waitFor, call.clock, size);
  const liveView =
    isWatched(call) && pairings.length > 0 ? await openLiveView(call, render) : undefined;
  const stop = new AbortController();
  const venueSession: PairSession = {
    ...session,
    signal: AbortSignal.any([call.interrupted, stop.signal]),
    changed(one) {
      if (liveView) liveView.draw();
      else if (one.problem !== undefined) call.note(`${placeName(one.place)}: ${one.problem}`);
    },
  };
  try {
    const sources = pairings.map((pairing) => pairOneOfMany(venueSession, pairing, failures));
    for await (const update of merge(sources, maxConcurrent, () => stop.abort())) {
      if (liveView) liveView.draw();
      else noteCode(call, update, undefined);
      yield [update];
    }
  } finally {
    liveView?.close(render({ columns: 80, rows: pairings.length + 4 }));
  }
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

/** Pairs all screens of a venue that have no TV, concurrently. Returns the exit code. */
export async function pairVenue(session: PairSession): Promise<number> {
  const { call } = session;
  const venue = await venueOf(call);
  const screens = await call.all('listScreens', {
    query: { venueId: venue.id, state: 'provisioning' },
  });
  if (screens.length === 0)
    call.note(`Nothing to pair: no screen of "${venue.name}" is waiting for a TV.`);
  if (call.common.dryRun) {
    for (const { id } of screens) await call.change('createCode', { body: { screenId: id } });
    return 0;
  }
  const pairings = screens.map((screen) => newPairing({ venue, screen, changes: [] }));
  const failures = new Map<Pairing, SignageError>();
  try {
    await showUpdates(call, 'list', updatesWithOutput(session, venue, pairings, failures));
  } catch (error) {
    const done = pairings.filter(({ state }) => state === 'done').length;
    call.note(`${done} of ${pairings.length} screens are paired.`);
    for (const pairing of pairings)
      if (pairing.state === 'going' && pairing.code) call.note(describeUnfinished(pairing));
    throw error;
  }
  return outcome(session, failures);
}
