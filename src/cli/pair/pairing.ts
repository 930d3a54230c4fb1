import { groupedCode } from '../options/pairing-code.ts';
import type { Device, Screen, Venue } from '../records/find.ts';
import { shellQuote } from '../records/shell-quote.ts';
import { typedName } from '../records/views/typed-name.ts';
import type { Milestone } from './pairing-options.ts';

/** A screen that a TV is to be paired with. */
export interface Place {
  venue: Pick<Venue, 'id' | 'name'>;
  screen: Pick<Screen, 'id' | 'name'>;
  /** What was done on the way to it, and stays done: `the venue "Lobby" was made`. */
  changes: readonly string[];
}

/** A code that was made for a TV to register with. */
interface LiveCode {
  code: string;
  createdAt: string;
  expiresAt: string;
  /** The same by our own clock, which may go otherwise than that of the service. */
  endsAtMs: number;
  link: string;
  /** `left`: it could not be cancelled. */
  status: 'pending' | 'used' | 'expired' | 'cancelled' | 'left';
}

/** How far one pairing is. It changes as things happen; whoever draws it looks at it whenever they draw. */
export interface Pairing {
  readonly place: Place;
  code: LiveCode | undefined;
  device: Device | undefined;
  /** What the TV has done so far. */
  reached: Milestone[];
  /** Why it does not get on: said once it is so, gone once it is over. */
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

/** What a shell takes for the screen. */
export function placeArgument({ venue, screen }: Place): string {
  const name = placeName({ venue, screen, changes: [] });
  return shellQuote(typedName({ id: screen.id, name }));
}

function codeText({ place, code }: Pairing): string[] {
  if (!code || code.status === 'expired') return [];
  const shown = groupedCode(code.code);
  if (code.status === 'left')
    return [`The code ${shown} could not be cancelled; it is good until ${code.expiresAt}.`];
  if (code.status === 'used')
    return [`A TV has registered on "${placeName(place)}" with the code ${shown}.`];
  return [`The code ${shown} is cancelled.`];
}

/** What stands when a pairing has ended before its time: for the person who wonders. */
export function describeUnfinished(pairing: Pairing): string {
  const { place, device, code, reached } = pairing;
  const made = place.changes.length > 0 ? [`This stays: ${place.changes.join('; ')}.`] : [];
  if (device) {
    const what = reached.includes('playlist')
      ? 'has fetched its playlist, but sent no event yet'
      : 'has registered, but not fetched its playlist yet';
    return [
      ...made,
      `The TV on "${placeName(place)}" ${what}: signage device get ${device.id}`,
    ].join(' ');
  }
  const next =
    code?.status === 'used'
      ? []
      : [`"${placeName(place)}" waits for a TV: signage pair ${placeArgument(place)}`];
  return [...made, ...codeText(pairing), ...next].join(' ');
}
