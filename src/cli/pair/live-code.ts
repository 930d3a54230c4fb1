import type { CallAnswer } from '../../client/call.ts';
import { interrupted } from '../../client/interrupted.ts';
import { hasCode } from '../../domain/error.ts';
import { leftMs, type PairRun, persist, rest } from './pair-run.ts';
import type { Pairing } from './pairing.ts';

const graceMs = 5000;
const longestHoldSeconds = 25;
const soonMs = 500;
const betweenLooksMs = 1000;

/** Does something that an interruption must not cut short, for nobody would know what became of it; only a service that hangs is left. */
async function unhurried<T>(
  { call, signal }: PairRun,
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

/** Makes a code for the screen. */
export async function makeCode(run: PairRun, pairing: Pairing): Promise<void> {
  const { call } = run;
  const body = { screenId: pairing.place.screen.id };
  const made = await unhurried(run, (signal) => call.change('createCode', { body, signal }));
  if (!made) return;
  const { code, createdAt, expiresAt, expiresInSeconds } = made.answer;
  const endsAtMs = call.clock.now() + expiresInSeconds * 1000;
  pairing.code = { code, createdAt, expiresAt, endsAtMs, link: run.linkOf(code), fate: 'pending' };
  if (run.signal.aborted) throw interrupted();
}

/** Waits until the code is used, has expired or is cancelled; answers what became of it. */
export async function codeEnd(
  run: PairRun,
  pairing: Pairing,
): Promise<CallAnswer<'getCodeStatus'>> {
  const { call, signal } = run;
  for (;;) {
    const { code, endsAtMs } = pairing.code ?? { code: '', endsAtMs: 0 };
    const askedAtMs = call.clock.now();
    const holdMs = Math.min(leftMs(run, pairing), endsAtMs - askedAtMs);
    const waitSeconds = Math.min(longestHoldSeconds, Math.max(1, Math.ceil(holdMs / 1000)));
    const status = await persist(run, pairing, () =>
      call.read('getCodeStatus', { params: { code }, query: { waitSeconds }, signal }),
    );
    if (pairing.code) {
      pairing.code.fate = status.status;
      pairing.code.endsAtMs = call.clock.now() + status.expiresInSeconds * 1000;
    }
    if (status.status !== 'pending') return status;
    // One that does not hold its answers must not be asked without end.
    if (call.clock.now() - askedAtMs < soonMs) await rest(run, pairing, betweenLooksMs);
  }
}

/** Cancels a code that nobody has used, and notes what became of it. Never throws. */
export async function cancelCode(run: PairRun, { code }: Pairing): Promise<void> {
  if (code?.fate !== 'pending') return;
  const params = { code: code.code };
  try {
    await unhurried(run, (signal) => run.call.change('cancelCode', { params, signal }));
    code.fate = 'cancelled';
  } catch (error) {
    if (hasCode(error, 'pairing_code_not_found')) code.fate = 'expired';
    else if (!hasCode(error, 'pairing_code_not_pending')) code.fate = 'left';
    else {
      const look = unhurried(run, (signal) => run.call.read('getCodeStatus', { params, signal }));
      code.fate = await look.then(
        ({ status }) => status,
        () => 'left' as const,
      );
    }
  }
}
