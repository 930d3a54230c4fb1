import type { Device, Screen, Venue } from '../../../client/entities.ts';
import { abortedLater } from '../../../domain/concurrency.ts';
import { SignageError } from '../../../domain/error.ts';
import type { Role } from '../../../domain/records/role.ts';
import { groupedCode } from '../../../domain/typed-code.ts';
import type { CommandContext } from '../../program/context.ts';
import { typedName } from '../../records/names.ts';
import { poll } from '../../records/wait.ts';
import { shellQuote } from '../../terminal/text.ts';
import type { Milestone } from './pairing-options.ts';
import { milestones, milestoneTexts } from './pairing-options.ts';

/** The screen to pair, and its venue. */
export interface Place {
  venue: Pick<Venue, 'id' | 'name'>;
  screen: Pick<Screen, 'id' | 'name'>;
  /** Changes made before the pairing. They remain if it fails: `the venue "Lobby" was created`. */
  changes: readonly string[];
}

/** A code that a TV can register with. */
interface LiveCode {
  code: string;
  createdAt: string;
  expiresAt: string;
  /** Expiry by the local clock, which may differ from the clock of the service. */
  endsAtMs: number;
  link: string;
  /** `uncancelled`: the code is unused, but cancelling it failed. */
  status: 'pending' | 'used' | 'expired' | 'cancelled' | 'uncancelled';
}

/** Progress of one pairing. Mutable: the live view reads it at each redraw. */
export interface Pairing {
  readonly place: Place;
  /**
   * The claim that the TV shows. With a claim, the TV gets the code from the service, and nobody
   * types it.
   */
  readonly claim: string | undefined;
  code: LiveCode | undefined;
  device: Device | undefined;
  /** Milestones that the TV has reached so far. */
  reached: Milestone[];
  /** Reason why the pairing makes no progress at the moment. */
  problem: string | undefined;
  /** Action that another person must take after the pairing. Printed as a note at the end. */
  followUp: string | undefined;
  state: 'running' | 'done' | 'failed';
}

export function newPairing(place: Place, claim?: string): Pairing {
  return {
    place,
    claim,
    code: undefined,
    device: undefined,
    reached: [],
    problem: undefined,
    followUp: undefined,
    state: 'running',
  };
}

/** Returns the full name of the screen: `Lobby/Main`. */
export const placeName = ({ venue, screen }: Place) => `${venue.name}/${screen.name}`;

/** Returns the screen as a shell-quoted command argument. */
export function placeArgument({ venue, screen }: Place): string {
  const name = placeName({ venue, screen, changes: [] });
  return shellQuote(typedName({ id: screen.id, name }));
}

function nextMilestone({ reached }: Pairing): Milestone {
  return milestones.find((one) => !reached.includes(one)) ?? 'playing';
}

function codeText({ place, code }: Pairing): string[] {
  if (!code || code.status === 'expired') return [];
  const shown = groupedCode(code.code);
  if (code.status === 'uncancelled')
    return [`The code ${shown} could not be cancelled. It is valid until ${code.expiresAt}.`];
  if (code.status === 'used')
    return [`A TV has registered on "${placeName(place)}" with the code ${shown}.`];
  return [`The code ${shown} was cancelled.`];
}

/**
 * Describes the remains of an unfinished pairing, and the next command. Omits the next command if
 * the pairing failed or never had a code, because the error already has a hint.
 */
export function describeUnfinished(pairing: Pairing): string {
  const { place, device, code, state } = pairing;
  const made =
    place.changes.length > 0 ? [`These changes remain: ${place.changes.join('; ')}.`] : [];
  if (state === 'failed' || !code) return made.join('');
  if (device) {
    const { done } = milestoneTexts[nextMilestone(pairing)];
    return [
      ...made,
      `The TV on "${placeName(place)}" has not ${done} yet. To check it: signage doctor ${placeArgument(place)}`,
    ].join(' ');
  }
  const next =
    code.status === 'used'
      ? []
      : [`"${placeName(place)}" has no TV yet. To pair one: signage pair ${placeArgument(place)}`];
  return [...made, ...codeText(pairing), ...next].join(' ');
}

/** State shared by all pairings of one command. */
export interface PairSession {
  call: CommandContext;
  waitFor: Milestone;
  /** The role of the token. */
  role: Role;
  /**
   * Whether the pairing ends early if only a token of another role can publish the missing
   * playlist.
   */
  endsWithoutPlaylist: boolean;
  timeoutMs: number | undefined;
  /**
   * Deadline by the local clock. Infinite by default at a terminal, where a person can stop the
   * command.
   */
  endsAtMs: number;
  signal: AbortSignal;
  /**
   * Aborts 5 s after `signal`. Used for requests that create or cancel a code, so that an
   * interruption leaves no unknown code.
   */
  graceSignal: AbortSignal;
  /** Returns the link that the QR code of a pairing code encodes. */
  linkOf(code: string): string;
  /**
   * Returns the address of the web player to show beside the QR code. Default: shows no address.
   */
  playerLinkOf?: ((code: string) => string) | undefined;
  /** Called after the `problem` of a pairing has changed. */
  changed(pairing: Pairing): void;
}

const graceMs = 5000;

/** Returns `signal` and its `graceSignal` for a session. */
export function signalsOf(
  { clock }: Pick<CommandContext, 'clock'>,
  signal: AbortSignal,
): Pick<PairSession, 'signal' | 'graceSignal'> {
  return { signal, graceSignal: abortedLater(clock, signal, graceMs) };
}

/** Returns the session with its whole timeout left. The time for questions does not count. */
export function restartTimeout(session: PairSession): PairSession {
  const { call, timeoutMs = Number.POSITIVE_INFINITY } = session;
  return { ...session, endsAtMs: call.clock.now() + timeoutMs };
}

/** Sets or clears the reason why a pairing makes no progress. */
export function setProblem(
  session: PairSession,
  pairing: Pairing,
  problem: string | undefined,
): void {
  if (pairing.problem === problem) return;
  pairing.problem = problem;
  session.changed(pairing);
}

const transientCodes = ['unreachable', 'unavailable'];
const unreachableText = 'The service does not answer. Retrying.';

/**
 * Asks until there is an answer. Asks again while the service is unreachable or unavailable,
 * because an installer's network may be unstable. Throws all other errors, and `wait_timed_out`
 * after the deadline.
 */
export async function untilAnswered<T>(
  session: PairSession,
  pairing: Pairing,
  everyMs: number,
  ask: () => Promise<T | undefined>,
): Promise<T> {
  const { call, signal, endsAtMs, timeoutMs = 0 } = session;
  const { clock } = call;
  const { awaited } = milestoneTexts[nextMilestone(pairing)];
  const what = `the TV on "${placeName(pairing.place)}" to ${awaited}`;
  const waiting = { timeoutMs: endsAtMs - clock.now(), what, everyMs };
  const answer = await poll({ clock, interrupted: signal }, waiting, async () => {
    try {
      const answered = await ask();
      if (pairing.problem === unreachableText) setProblem(session, pairing, undefined);
      return answered;
    } catch (error) {
      if (!(error instanceof SignageError) || !transientCodes.includes(error.code)) throw error;
      setProblem(session, pairing, unreachableText);
      return undefined;
    }
  });
  if (answer !== undefined) return answer;
  const message = `Timed out: waited ${Math.round(timeoutMs / 1000)} s for ${what}.`;
  throw new SignageError('wait_timed_out', message);
}

/** Makes one request, and repeats it while the service does not answer. */
export async function askService<T>(
  session: PairSession,
  pairing: Pairing,
  ask: () => Promise<T>,
): Promise<T> {
  const { answer } = await untilAnswered(session, pairing, 2000, async () => ({
    answer: await ask(),
  }));
  return answer;
}

/** `code` repeats for each new code after an expired one. */
type Step = 'code' | Milestone | 'paired' | 'failed';

/**
 * Returns the update for a step that was just reached, printed as one line with `-o ndjson`. All
 * members are present. Unknown values are `null`.
 */
export function makeUpdate(
  { place: { venue, screen }, claim, code, device }: Pairing,
  step: Step,
  at: string,
  error: string | null = null,
) {
  const info = device?.deviceInfo;
  return {
    step,
    at,
    venue: venue.name,
    screen: screen.name,
    venueId: venue.id,
    screenId: screen.id,
    claim: claim ?? null,
    code: code?.code ?? null,
    expiresAt: code?.expiresAt ?? null,
    /** The text that the QR code encodes. */
    link: code?.link ?? null,
    deviceId: device?.id ?? null,
    manufacturer: info?.manufacturer ?? null,
    model: info?.model ?? null,
    appVersion: info?.appVersion ?? null,
    osVersion: info?.osVersion ?? null,
    playlistVersion: device?.lastPlaylistVersion ?? null,
    error,
  };
}

export type PairUpdate = ReturnType<typeof makeUpdate>;

type Info = Pick<PairUpdate, 'manufacturer' | 'model' | 'appVersion' | 'osVersion'>;

/** Formats manufacturer and model: `Samsung QM55B`. */
export function modelText({ manufacturer, model }: Info): string {
  return [manufacturer, model].filter((text) => text).join(' ');
}

/** Formats the versions of the app and the operating system: `2.3.1, Tizen 6.5`. */
export function versionText({ appVersion, osVersion }: Info): string {
  return [appVersion, osVersion].filter((text) => text).join(', ');
}
