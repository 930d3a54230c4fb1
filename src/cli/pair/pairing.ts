import { groupedCode } from '../options/pairing-code.ts';
import type { Device, Screen, Venue } from '../records/find.ts';
import { shellQuote } from '../records/shell-quote.ts';
import { typedName } from '../records/views/typed-name.ts';
import type { Milestone } from './pairing-options.ts';

/** The screen to pair, and its venue. */
export interface Place {
  venue: Pick<Venue, 'id' | 'name'>;
  screen: Pick<Screen, 'id' | 'name'>;
  /** Changes made on the way that persist: `the venue "Lobby" was created`. */
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
  code: LiveCode | undefined;
  device: Device | undefined;
  /** Milestones that the TV has reached so far. */
  reached: Milestone[];
  /** Why the pairing makes no progress at the moment. */
  problem: string | undefined;
  state: 'going' | 'done' | 'failed';
}

export function newPairing(place: Place): Pairing {
  return {
    place,
    code: undefined,
    device: undefined,
    reached: [],
    problem: undefined,
    state: 'going',
  };
}

/** `Lobby/Main` */
export const placeName = ({ venue, screen }: Place) => `${venue.name}/${screen.name}`;

/** Returns the screen as a shell-quoted command argument. */
export function placeArgument({ venue, screen }: Place): string {
  const name = placeName({ venue, screen, changes: [] });
  return shellQuote(typedName({ id: screen.id, name }));
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

/** Describes what an unfinished pairing left behind, and how to continue. */
export function describeUnfinished(pairing: Pairing): string {
  const { place, device, code, reached } = pairing;
  const made =
    place.changes.length > 0 ? [`These changes remain: ${place.changes.join('; ')}.`] : [];
  if (device) {
    const what = reached.includes('playlist')
      ? 'has fetched its playlist, but has sent no event yet'
      : 'has registered, but has not fetched its playlist yet';
    return [
      ...made,
      `The TV on "${placeName(place)}" ${what}. To check it: signage device get ${device.id}`,
    ].join(' ');
  }
  const next =
    code?.status === 'used'
      ? []
      : [`"${placeName(place)}" has no TV yet. To pair one: signage pair ${placeArgument(place)}`];
  return [...made, ...codeText(pairing), ...next].join(' ');
}
