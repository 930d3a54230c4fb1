import { iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { exitCodeOf } from '../command/exit-code.ts';
import { usage } from '../options/settings.ts';
import { findVenue, type Venue } from '../records/find.ts';
import { isWatched, type LiveViewSize, openLiveView } from '../terminal/live-view.ts';
import { followTv } from './follow-tv.ts';
import { merge } from './merge.ts';
import { noteStep } from './note-step.ts';
import type { PairRun } from './pair-run.ts';
import { makeStep, type PairStep } from './pair-step.ts';
import { newPairing, type Pairing, placeName } from './pairing.ts';
import { askVenue } from './place/choose-venue.ts';
import { standing } from './place/standing.ts';
import { showSteps } from './show-steps.ts';
import { venueFrame } from './venue-frame.ts';

/** Each of them is a request that the service holds. */
const mostAtOnce = 200;
const partlyFailed = 9;
/** Nothing further can go well after these. */
const hopeless = [1, 4, 7];

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
      '--all is for the open screens of a venue: give --venue with it, and neither a screen nor --create, --replace or --qr.',
    );
  }
  return options.venue === undefined
    ? ((await askVenue(call, undefined)) as Venue)
    : findVenue(call, options.venue);
}

/** One screen of several: what goes wrong with it alone is a step of its own. */
async function* oneOfMany(
  run: PairRun,
  pairing: Pairing,
  failures: Map<Pairing, SignageError>,
): AsyncGenerator<PairStep> {
  try {
    yield* followTv(run, pairing);
  } catch (error) {
    if (
      !(error instanceof SignageError) ||
      error.code === 'interrupted' ||
      hopeless.includes(exitCodeOf(error))
    )
      throw error;
    failures.set(pairing, error);
    pairing.state = 'failed';
    yield makeStep(pairing, 'failed', iso(run.call.clock.now()), error.message);
  }
}

/** The steps of all, with what is drawn, or said on `stderr`, beside them. */
async function* shownSteps(
  plan: PairRun,
  { name }: Venue,
  pairings: readonly Pairing[],
  failures: Map<Pairing, SignageError>,
): AsyncGenerator<PairStep[]> {
  const { call, waitFor } = plan;
  const render = (size: LiveViewSize) => venueFrame(name, pairings, waitFor, call.clock, size);
  const board =
    isWatched(call) && pairings.length > 0 ? await openLiveView(call, render) : undefined;
  const stop = new AbortController();
  const run: PairRun = {
    ...plan,
    signal: AbortSignal.any([call.interrupted, stop.signal]),
    changed(one) {
      if (board) board.draw();
      else if (one.trouble !== undefined) call.note(`${placeName(one.place)}: ${one.trouble}`);
    },
  };
  try {
    const sources = pairings.map((pairing) => oneOfMany(run, pairing, failures));
    for await (const step of merge(sources, mostAtOnce, () => stop.abort())) {
      if (board) board.draw();
      else noteStep(call, step, undefined);
      yield [step];
    }
  } finally {
    board?.close(render({ columns: 80, rows: pairings.length + 4 }));
  }
}

/** Says what is left of those that were not paired, and answers how the whole ended. */
function outcome({ call }: PairRun, failures: ReadonlyMap<Pairing, SignageError>): number {
  for (const [, error] of failures) call.note(error.message);
  const late = [...failures].filter(([, { code }]) => code === 'wait_timed_out');
  if (late.length === 0) return failures.size > 0 ? partlyFailed : 0;
  const names = late.map(([{ place }]) => placeName(place)).join(', ');
  throw new SignageError('wait_timed_out', `The time was over before all were paired: ${names}.`, {
    hint: 'Codes that nobody used are cancelled.',
  });
}

/** Pairs all open screens of a venue at once; answers the exit code. */
export async function pairVenue(plan: PairRun): Promise<number> {
  const { call } = plan;
  const venue = await venueOf(call);
  const screens = await call.all('listScreens', {
    query: { venueId: venue.id, state: 'provisioning' },
  });
  if (screens.length === 0) call.note(`No screen of "${venue.name}" waits for a TV.`);
  if (call.common.dryRun) {
    for (const { id } of screens) await call.change('createCode', { body: { screenId: id } });
    return 0;
  }
  const pairings = screens.map((screen) => newPairing({ venue, screen, changes: [] }));
  const failures = new Map<Pairing, SignageError>();
  try {
    await showSteps(call, 'list', shownSteps(plan, venue, pairings, failures));
  } catch (error) {
    const done = pairings.filter(({ state }) => state === 'done').length;
    call.note(`${done} of ${pairings.length} screens are paired.`);
    for (const pairing of pairings)
      if (pairing.state === 'going' && pairing.code) call.note(standing(pairing));
    throw error;
  }
  return outcome(plan, failures);
}
