import { hasCode, SignageError } from '../../domain/error.ts';
import { isLoopback } from '../api/loopback.ts';
import type { CommandContext } from '../command/context.ts';
import { isWatched, type LiveView, openLiveView } from '../terminal/live-view.ts';
import { followTv } from './follow-tv.ts';
import type { PairSession } from './pair-session.ts';
import type { PairUpdate } from './pair-update.ts';
import { describeUnfinished, newPairing, type Pairing, type Place } from './pairing.ts';
import { loadQrCodes, type QrCode } from './qr-code.ts';
import { renderPaired, renderPairing } from './render-pairing.ts';
import { noteCode, showUpdates } from './show-updates.ts';

async function openPairingView(
  session: PairSession,
  pairing: Pairing,
  qrOf: ((text: string) => QrCode) | undefined,
): Promise<LiveView> {
  const { call, waitFor } = session;
  return openLiveView(call, (size) => {
    const qr = qrOf && pairing.code && qrOf(pairing.code.link);
    return renderPairing({ pairing, waitFor, clock: call.clock, qr }, size);
  });
}

/** Warns that a QR code with a loopback address does not work on a phone. */
async function noteUnreachable(call: CommandContext): Promise<void> {
  const { url } = await call.profile();
  if (isLoopback(new URL(url.value).hostname))
    call.note(
      `The QR code contains ${url.value}, which only this machine can reach. Give another address with --url.`,
    );
}

/** Passes updates on, and draws the live view or prints notes on stderr. */
async function* updatesWithOutput(
  session: PairSession,
  pairing: Pairing,
): AsyncGenerator<PairUpdate[]> {
  const { call, waitFor } = session;
  const qrOf = call.options.qr ? await loadQrCodes() : undefined;
  if (qrOf) await noteUnreachable(call);
  const liveView = isWatched(call) ? await openPairingView(session, pairing, qrOf) : undefined;
  const drawnSession: PairSession = {
    ...session,
    changed(one) {
      if (liveView) liveView.draw();
      else if (one.problem !== undefined) call.note(one.problem);
    },
  };
  try {
    for await (const update of followTv(drawnSession, pairing)) {
      if (liveView) liveView.draw();
      else noteCode(call, update, qrOf);
      yield [update];
    }
  } finally {
    liveView?.close(pairing.state === 'done' ? renderPaired(pairing, waitFor) : []);
  }
}

/** Pairs one screen. If that ends early, says what was left behind. */
export async function pairScreen(session: PairSession, place: Place): Promise<void> {
  const { call } = session;
  const pairing = newPairing(place);
  try {
    await showUpdates(call, 'record', updatesWithOutput(session, pairing));
  } catch (error) {
    if (!hasCode(error, 'wait_timed_out')) {
      call.note(describeUnfinished(pairing));
      throw error;
    }
    throw new SignageError(error.code, error.message, { hint: describeUnfinished(pairing) });
  }
}
