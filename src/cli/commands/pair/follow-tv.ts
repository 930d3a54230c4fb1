import type { CallAnswer } from '../../../client/call.ts';
import { interrupted } from '../../../client/pause.ts';
import { hasCode, SignageError } from '../../../domain/error.ts';
import { groupedCode } from '../../../domain/typed-code.ts';
import {
  askService,
  makeUpdate,
  type Pairing,
  type PairSession,
  type PairUpdate,
  placeArgument,
  placeName,
  untilAnswered,
} from './pairing.ts';
import { isPaired, milestones } from './pairing-options.ts';
import { describeDevice } from './prepare-place.ts';
import { untilReached } from './until-reached.ts';

const maxHoldSeconds = 25;
/** Pause between two polls. Avoids a busy loop if the service does not hold the long poll. */
const everyMs = 500;

async function makeCode(session: PairSession, pairing: Pairing): Promise<void> {
  const { call } = session;
  const { place, claim } = pairing;
  const input = { body: { screenId: place.screen.id }, signal: session.graceSignal };
  const made =
    claim === undefined
      ? await call.change('createCode', input)
      : await call.change('offerClaim', { ...input, params: { claim } });
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
  if (session.signal.aborted) throw interrupted(session.signal);
}

/** Long-polls until the code is used, has expired or is cancelled. Returns its final status. */
async function waitForCodeEnd(
  session: PairSession,
  pairing: Pairing,
): Promise<CallAnswer<'getCodeStatus'>> {
  const { call, signal } = session;
  const { code } = pairing;
  if (!code) throw new Error('makeCode() must be called first.');
  return untilAnswered(session, pairing, everyMs, async () => {
    const holdMs = Math.min(session.endsAtMs, code.endsAtMs) - call.clock.now();
    const waitSeconds = Math.min(maxHoldSeconds, Math.max(1, Math.ceil(holdMs / 1000)));
    const input = { params: { code: code.code }, query: { waitSeconds }, signal };
    const status = await call.read('getCodeStatus', input);
    code.status = status.status;
    code.endsAtMs = call.clock.now() + status.expiresInSeconds * 1000;
    return status.status === 'pending' ? undefined : status;
  });
}

/** Cancels an unused code and records its final status. Never throws. */
async function cancelCode(session: PairSession, { code }: Pairing): Promise<void> {
  if (code?.status !== 'pending') return;
  const input = { params: { code: code.code }, signal: session.graceSignal };
  try {
    await session.call.change('cancelCode', input);
    code.status = 'cancelled';
  } catch (error) {
    if (hasCode(error, 'pairing_code_not_found')) code.status = 'expired';
    else if (!hasCode(error, 'pairing_code_not_pending')) code.status = 'uncancelled';
    else {
      const look = session.call.read('getCodeStatus', input);
      code.status = await look.then(
        ({ status }) => status,
        () => 'uncancelled' as const,
      );
    }
  }
}

/**
 * Throws `pairing_code_used` if a TV has registered with another code of the screen. The service
 * does not return that code, so the message identifies it by its creation time.
 */
async function requireUnpaired(session: PairSession, pairing: Pairing): Promise<void> {
  const { call, signal } = session;
  const { place, code } = pairing;
  const { deviceId, provisioningCode } = await askService(session, pairing, () =>
    call.read('getScreen', { params: { id: place.screen.id }, signal }),
  );
  if (deviceId === null) return;
  pairing.state = 'failed';
  const device = await askService(session, pairing, () =>
    call.read('getDevice', { params: { id: deviceId }, signal }),
  );
  // Using a code cancels all others of the screen. So if the newest code was not used, an earlier
  // code was.
  const other =
    provisioningCode?.status === 'used'
      ? `the code created at ${provisioningCode.createdAt}`
      : 'an earlier code';
  throw new SignageError(
    'pairing_code_used',
    `Not paired: your code ${groupedCode(code?.code ?? '')} was not used. "${placeName(place)}" was paired with ${other}, by ${describeDevice(device)}.`,
    {
      hint: `If that is the wrong TV: signage pair ${placeArgument(place)} --replace`,
    },
  );
}

/** Creates a new code. Throws `pairing_code_used` if a TV has used another code meanwhile. */
async function renewCode(session: PairSession, pairing: Pairing): Promise<void> {
  try {
    await askService(session, pairing, () => makeCode(session, pairing));
  } catch (error) {
    if (hasCode(error, 'screen_already_bound')) await requireUnpaired(session, pairing);
    throw error;
  }
}

/**
 * Yields an update for each code, and replaces the code after each expiry, until a TV registers. A
 * claim gets only one code. Returns the device id.
 */
async function* untilRegistered(
  session: PairSession,
  pairing: Pairing,
): AsyncGenerator<PairUpdate, string> {
  await makeCode(session, pairing);
  for (;;) {
    yield makeUpdate(pairing, 'code', pairing.code?.createdAt ?? '');
    const { status, deviceId } = await waitForCodeEnd(session, pairing);
    if (deviceId !== null) return deviceId;
    if (status === 'cancelled') {
      await requireUnpaired(session, pairing);
      const message = `Somebody else cancelled the code for "${placeName(pairing.place)}".`;
      throw new SignageError('pairing_code_cancelled', message, {
        hint: `To get a new code: signage pair ${placeArgument(pairing.place)}`,
      });
    }
    if (pairing.claim !== undefined) {
      const message = `The TV that showed ${groupedCode(pairing.claim)} did not register in time.`;
      const hint = 'Start pairing at the TV again: it then shows a new claim.';
      throw new SignageError('pairing_code_expired', message, { hint });
    }
    await renewCode(session, pairing);
  }
}

/**
 * Pairs one screen. Creates a code, replaces it when it expires, and follows the TV to the
 * milestone `waitFor`. Yields an update at each step. At the end, even after an error, tries to
 * cancel an unused code.
 */
export async function* followTv(
  session: PairSession,
  pairing: Pairing,
): AsyncGenerator<PairUpdate> {
  try {
    const id = yield* untilRegistered(session, pairing);
    let at = '';
    for (const milestone of milestones.slice(0, milestones.indexOf(session.waitFor) + 1)) {
      const reachedAt = await untilReached(session, pairing, id, milestone);
      if (reachedAt === undefined) break;
      at = reachedAt;
      pairing.reached.push(milestone);
      yield makeUpdate(pairing, milestone, at);
    }
    pairing.state = 'done';
    if (isPaired(session.waitFor) && pairing.followUp === undefined)
      yield makeUpdate(pairing, 'paired', at);
  } finally {
    await cancelCode(session, pairing);
  }
}
