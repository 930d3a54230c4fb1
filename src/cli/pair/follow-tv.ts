import { hasCode, SignageError } from '../../domain/error.ts';
import type { Device } from '../records/find.ts';
import { cancelCode, makeCode, waitForCodeEnd } from './live-code.ts';
import { type PairSession, retryWhileUnreachable, setProblem, wait } from './pair-session.ts';
import { makeUpdate, type PairUpdate } from './pair-update.ts';
import { type Pairing, placeArgument, placeName } from './pairing.ts';
import { type Milestone, milestones } from './pairing-options.ts';

const pollIntervalMs = 1000;
const delivered: readonly (number | null)[] = [200, 304];

/** Returns the id of the device that is on the screen now, whichever code it used. */
async function boundDeviceId(session: PairSession, pairing: Pairing): Promise<string | null> {
  const { call, signal } = session;
  const { id } = pairing.place.screen;
  return (
    await retryWhileUnreachable(session, pairing, () =>
      call.read('getScreen', { params: { id }, signal }),
    )
  ).deviceId;
}

/**
 * Creates a new code. Returns a device id instead if a TV has registered with another code
 * meanwhile.
 */
async function renewCode(session: PairSession, pairing: Pairing): Promise<string | null> {
  try {
    await retryWhileUnreachable(session, pairing, () => makeCode(session, pairing));
    return null;
  } catch (error) {
    const deviceId = hasCode(error, 'screen_already_bound')
      ? await boundDeviceId(session, pairing)
      : null;
    if (deviceId === null) throw error;
    return deviceId;
  }
}

/** Keeps a valid code until a TV registers. Returns the device id. */
async function* untilRegistered(
  session: PairSession,
  pairing: Pairing,
): AsyncGenerator<PairUpdate, string> {
  await makeCode(session, pairing);
  for (;;) {
    yield makeUpdate(pairing, 'code', pairing.code?.createdAt ?? '');
    const { status, deviceId } = await waitForCodeEnd(session, pairing);
    // Using one code cancels the other codes of the screen.
    const there =
      deviceId ??
      (status === 'cancelled'
        ? await boundDeviceId(session, pairing)
        : await renewCode(session, pairing));
    if (there !== null) return there;
    if (status === 'cancelled') {
      const message = `Somebody else cancelled the code for "${placeName(pairing.place)}".`;
      throw new SignageError('pairing_code_cancelled', message, {
        hint: `To get a new one: signage pair ${placeArgument(pairing.place)}`,
      });
    }
  }
}

/** When the device reached a milestone, or `null` if it has not yet. */
const reachedAt: Record<Milestone, (device: Device) => string | null> = {
  registered: ({ createdAt }) => createdAt,
  playlist: ({ lastPlaylistAt, lastPlaylistStatus }) =>
    delivered.includes(lastPlaylistStatus) ? lastPlaylistAt : null,
  event: ({ lastEventAt }) => lastEventAt,
};

function problemOf(
  { lastPlaylistStatus }: Device,
  milestone: Milestone,
  pairing: Pairing,
): string | undefined {
  if (milestone !== 'playlist' || lastPlaylistStatus === null) return undefined;
  if (lastPlaylistStatus !== 404) return 'The service cannot fetch the playlist of the screen.';
  return `The screen has no playlist yet. Publish one: signage playlist publish ${placeArgument(pairing.place)} -f …`;
}

/** Polls the device until it has reached the milestone. Returns when it did. */
async function untilReached(
  session: PairSession,
  pairing: Pairing,
  id: string,
  milestone: Milestone,
): Promise<string> {
  for (;;) {
    const device = await retryWhileUnreachable(session, pairing, () =>
      session.call.read('getDevice', { params: { id }, signal: session.signal }),
    );
    pairing.device = device;
    if (device.state === 'suspended') {
      throw new SignageError(
        'device_revoked',
        `The TV on "${placeName(pairing.place)}" was revoked while it was being paired.`,
        { status: 409 },
      );
    }
    const at = reachedAt[milestone](device);
    setProblem(session, pairing, at === null ? problemOf(device, milestone, pairing) : undefined);
    if (at !== null) return at;
    await wait(session, pairing, pollIntervalMs);
  }
}

/**
 * Pairs one screen. Creates a code, replaces it when it expires, and follows the TV to the
 * milestone `waitFor`. Yields an update at each step. Always cancels an unused code at the end.
 */
export async function* followTv(
  session: PairSession,
  pairing: Pairing,
): AsyncGenerator<PairUpdate> {
  try {
    const id = yield* untilRegistered(session, pairing);
    let at = '';
    for (const milestone of milestones.slice(0, milestones.indexOf(session.waitFor) + 1)) {
      at = await untilReached(session, pairing, id, milestone);
      pairing.reached.push(milestone);
      yield makeUpdate(pairing, milestone, at);
    }
    pairing.state = 'done';
    if (session.waitFor === 'event') yield makeUpdate(pairing, 'paired', at);
  } finally {
    await cancelCode(session, pairing);
  }
}
