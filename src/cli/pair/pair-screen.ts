import { hasCode, SignageError } from '../../domain/error.ts';
import { isLoopback } from '../api/loopback.ts';
import type { CommandContext } from '../command/context.ts';
import { isWatched, type LiveView, openLiveView } from '../terminal/live-view.ts';
import { followTv } from './follow-tv.ts';
import { noteStep } from './note-step.ts';
import { pairedFrame, pairFrame } from './pair-frame.ts';
import type { PairRun } from './pair-run.ts';
import type { PairStep } from './pair-step.ts';
import { newPairing, type Pairing, type Place } from './pairing.ts';
import { standing } from './place/standing.ts';
import { loadQrCodes, type QrCode } from './qr-code.ts';
import { showSteps } from './show-steps.ts';

async function openFrame(
  run: PairRun,
  pairing: Pairing,
  qrOf: ((text: string) => QrCode) | undefined,
): Promise<LiveView> {
  const { call, waitFor } = run;
  return openLiveView(call, (size) => {
    const qr = qrOf && pairing.code && qrOf(pairing.code.link);
    return pairFrame({ pairing, waitFor, clock: call.clock, qr }, size);
  });
}

/** A QR code that sends phones to themselves helps nobody. */
async function noteUnreachable(call: CommandContext): Promise<void> {
  const { url } = await call.profile();
  if (isLoopback(new URL(url.value).hostname))
    call.note(
      `The QR code names ${url.value}, which only this machine reaches: --url names another.`,
    );
}

/** The steps with what is drawn, or said on `stderr`, beside them. */
async function* shownSteps(run: PairRun, pairing: Pairing): AsyncGenerator<PairStep[]> {
  const { call, waitFor } = run;
  const qrOf = call.options.qr ? await loadQrCodes() : undefined;
  if (qrOf) await noteUnreachable(call);
  const board = isWatched(call) ? await openFrame(run, pairing, qrOf) : undefined;
  const shown: PairRun = {
    ...run,
    changed(one) {
      if (board) board.draw();
      else if (one.trouble !== undefined) call.note(one.trouble);
    },
  };
  try {
    for await (const step of followTv(shown, pairing)) {
      if (board) board.draw();
      else noteStep(call, step, qrOf);
      yield [step];
    }
  } finally {
    board?.close(pairing.state === 'done' ? pairedFrame(pairing, waitFor) : []);
  }
}

/** Pairs one screen, and says what stands when that ends before its time. */
export async function pairScreen(run: PairRun, place: Place): Promise<void> {
  const { call } = run;
  const pairing = newPairing(place);
  try {
    await showSteps(call, 'record', shownSteps(run, pairing));
  } catch (error) {
    if (!hasCode(error, 'wait_timed_out')) {
      call.note(standing(pairing));
      throw error;
    }
    throw new SignageError(error.code, error.message, { hint: standing(pairing) });
  }
}
