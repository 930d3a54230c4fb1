import type { CallAnswer } from '../../client/call.ts';
import { interrupted } from '../../client/pause.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { mayAct } from '../../domain/records/role.ts';
import { groupedCode } from '../../domain/records/typed-code.ts';
import { operations } from '../../wire/operations.ts';
import { type Device, orUndefined } from '../records/find.ts';
import {
  askService,
  makeUpdate,
  type Pairing,
  type PairSession,
  type PairUpdate,
  placeArgument,
  placeName,
  setProblem,
  untilAnswered,
} from './pairing.ts';
import type { Milestone } from './pairing-options.ts';
import { isPaired, milestones } from './pairing-options.ts';
import { rolesFrom } from './place/pair-rights.ts';
import { describeDevice } from './place/prepare-place.ts';

const pollIntervalMs = 1000;
/** Time without progress before a hint suggests what to check at the TV. */
const hintDelayMs = 10_000;
const delivered: readonly (number | null)[] = [200, 304];
/** Types of events that a TV sends only after it has shown something. */
const playingTypes = ['impression', 'play'];

/**
 * Returns the time at which the service received the first impression of the TV, or else its first
 * `play` event.
 */
async function playingSince({ call, signal }: PairSession, device: Device): Promise<string | null> {
  if (device.lastEventAt === null) return null;
  for (const type of playingTypes) {
    const query = { deviceId: device.id, type, order: 'asc' as const, limit: 1 };
    const { items } = await call.read('listEvents', { query, signal });
    if (items[0]) return items[0].receivedAt;
  }
  return null;
}

/** Returns the time at which a device reached the milestone, or `null` if it has not yet. */
async function reachedAt(
  session: PairSession,
  device: Device,
  milestone: Milestone,
): Promise<string | null> {
  switch (milestone) {
    case 'registered':
      return device.createdAt;
    case 'playlist':
      return delivered.includes(device.lastPlaylistStatus) ? device.lastPlaylistAt : null;
    case 'event':
      return device.lastEventAt;
    case 'playing':
      return playingSince(session, device);
  }
}

type Playlist = CallAnswer<'readPlaylist'>;

/**
 * Returns the problem of a missing playlist, and how to solve it. Sets `followUp` if the pairing
 * ends because only another person can publish a playlist.
 */
function missingPlaylist(
  playlist: Playlist | undefined,
  { role, endsWithoutPlaylist }: PairSession,
  pairing: Pairing,
): string {
  const { place } = pairing;
  if (playlist?.status === 'active')
    return `The screen now has a playlist, version ${playlist.version}. Waiting for the TV to fetch it. Restarting the app of the TV is faster.`;
  const what = playlist
    ? 'The playlist of the screen has expired'
    : 'The screen has no playlist yet';
  const needs = operations.publishPlaylist.access;
  const publish = `signage playlist publish ${placeArgument(place)} -f …`;
  if (mayAct(role, needs)) return `${what}. Publish one: ${publish}`;
  const problem = `${what}, and the role ${role} may not publish one. Ask somebody with the role ${rolesFrom(needs)} to run: ${publish}`;
  if (endsWithoutPlaylist)
    pairing.followUp = `The TV on "${placeName(place)}" is paired, but shows nothing yet. ${problem}`;
  return problem;
}

const hints: Partial<Record<Milestone, string>> = {
  playlist: 'The TV has not asked for its playlist yet. Check that its app is running.',
  event:
    'The TV has sent no event yet. Many apps send their first event after some minutes of playing.',
  playing:
    'The TV has not reported yet that it plays. Many apps report this after some minutes of playing.',
};

/** Returns the reason why the TV has not reached the milestone, if it is known. */
async function problemOf(
  session: PairSession,
  pairing: Pairing,
  { lastPlaylistStatus }: Device,
  milestone: Milestone,
): Promise<string | undefined> {
  if (milestone !== 'playlist' || lastPlaylistStatus === null) return undefined;
  if (lastPlaylistStatus === 404) {
    const { call, signal } = session;
    const reading = call.read('readPlaylist', { params: { id: pairing.place.screen.id }, signal });
    const playlist = await orUndefined(reading, 'playlist_not_found');
    return missingPlaylist(playlist, session, pairing);
  }
  return `The service cannot fetch the playlist of the screen. To find out why: signage doctor ${placeArgument(pairing.place)}`;
}

/**
 * Polls the device until it has reached the milestone. Returns the time of the milestone. Returns
 * `undefined` if the pairing ended early: the playlist is missing, and this token may not publish
 * one.
 */
async function untilReached(
  session: PairSession,
  pairing: Pairing,
  id: string,
  milestone: Milestone,
): Promise<string | undefined> {
  const { call, signal } = session;
  const startedAtMs = call.clock.now();
  const reached = await untilAnswered(session, pairing, pollIntervalMs, async () => {
    const device = await call.read('getDevice', { params: { id }, signal });
    pairing.device = device;
    const at = await reachedAt(session, device, milestone);
    const problem = at === null ? await problemOf(session, pairing, device, milestone) : undefined;
    if (device.state === 'suspended') {
      throw new SignageError(
        'device_revoked',
        `The TV on "${placeName(pairing.place)}" was revoked while it was being paired.`,
        { status: 409 },
      );
    }
    if (pairing.followUp !== undefined) return { at: undefined };
    const isSlow = at === null && call.clock.now() - startedAtMs >= hintDelayMs;
    setProblem(session, pairing, problem ?? (isSlow ? hints[milestone] : undefined));
    return at === null ? undefined : { at };
  });
  return reached.at;
}

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
