import type { CallAnswer } from '../../../client/call.ts';
import type { Device } from '../../../client/entities.ts';
import { SignageError } from '../../../domain/error.ts';
import { mayAct } from '../../../domain/records/role.ts';
import { operations } from '../../../wire/operations/operations.ts';
import { orUndefined } from '../../records/find.ts';
import { rolesFrom } from './pair-rights.ts';
import {
  type Pairing,
  type PairSession,
  placeArgument,
  placeName,
  setProblem,
  untilAnswered,
} from './pairing.ts';
import type { Milestone } from './pairing-options.ts';

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
  const publish = `signage show ${placeArgument(place)} FILE …`;
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
export async function untilReached(
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
