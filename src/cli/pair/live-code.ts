import type { CallAnswer } from '../../client/call.ts';
import { interrupted } from '../../client/pause.ts';
import { hasCode } from '../../domain/error.ts';
import { leftMs, type PairSession, retryWhileUnreachable, wait } from './pair-session.ts';
import type { Pairing } from './pairing.ts';

const graceMs = 5000;
const maxHoldSeconds = 25;
const minHoldMs = 500;
const pollIntervalMs = 1000;

/**
 * Finishes a request despite an interruption, so that its outcome is known. Gives up after
 * `graceMs`.
 */
async function withGracePeriod<T>(
  { call, signal }: PairSession,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const giveUp = new AbortController();
  let cancel = () => {};
  const begin = () => {
    cancel = call.clock.after(graceMs, () => giveUp.abort());
  };
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  try {
    return await work(giveUp.signal);
  } finally {
    cancel();
    signal.removeEventListener('abort', begin);
  }
}

/** Creates a code for the screen. */
export async function makeCode(session: PairSession, pairing: Pairing): Promise<void> {
  const { call } = session;
  const body = { screenId: pairing.place.screen.id };
  const made = await withGracePeriod(session, (signal) =>
    call.change('createCode', { body, signal }),
  );
  if (!made) return;
  const { code, createdAt, expiresAt, expiresInSeconds } = made.answer;
  const endsAtMs = call.clock.now() + expiresInSeconds * 1000;
  pairing.code = {
    code,
    createdAt,
    expiresAt,
    endsAtMs,
    link: session.linkOf(code),
    status: 'pending',
  };
  if (session.signal.aborted) throw interrupted();
}

/** Long-polls until the code is used, has expired or is cancelled. Returns its final status. */
export async function waitForCodeEnd(
  session: PairSession,
  pairing: Pairing,
): Promise<CallAnswer<'getCodeStatus'>> {
  const { call, signal } = session;
  for (;;) {
    const { code, endsAtMs } = pairing.code ?? { code: '', endsAtMs: 0 };
    const askedAtMs = call.clock.now();
    const holdMs = Math.min(leftMs(session, pairing), endsAtMs - askedAtMs);
    const waitSeconds = Math.min(maxHoldSeconds, Math.max(1, Math.ceil(holdMs / 1000)));
    const status = await retryWhileUnreachable(session, pairing, () =>
      call.read('getCodeStatus', { params: { code }, query: { waitSeconds }, signal }),
    );
    if (pairing.code) {
      pairing.code.status = status.status;
      pairing.code.endsAtMs = call.clock.now() + status.expiresInSeconds * 1000;
    }
    if (status.status !== 'pending') return status;
    // Avoids a busy loop if the service does not hold its answers.
    if (call.clock.now() - askedAtMs < minHoldMs) await wait(session, pairing, pollIntervalMs);
  }
}

/** Cancels an unused code and records its final status. Never throws. */
export async function cancelCode(session: PairSession, { code }: Pairing): Promise<void> {
  if (code?.status !== 'pending') return;
  const params = { code: code.code };
  try {
    await withGracePeriod(session, (signal) =>
      session.call.change('cancelCode', { params, signal }),
    );
    code.status = 'cancelled';
  } catch (error) {
    if (hasCode(error, 'pairing_code_not_found')) code.status = 'expired';
    else if (!hasCode(error, 'pairing_code_not_pending')) code.status = 'uncancelled';
    else {
      const look = withGracePeriod(session, (signal) =>
        session.call.read('getCodeStatus', { params, signal }),
      );
      code.status = await look.then(
        ({ status }) => status,
        () => 'uncancelled' as const,
      );
    }
  }
}
