import type { Device, Screen, Venue } from '../records/find.ts';
import { shellQuote } from '../records/shell-quote.ts';
import { typedName } from '../records/views/typed-name.ts';
import type { Stage } from './stages.ts';

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
  fate: 'pending' | 'used' | 'expired' | 'cancelled' | 'left';
}

/** How far one pairing is. It changes as things happen; whoever draws it looks at it whenever they draw. */
export interface Pairing {
  readonly place: Place;
  code: LiveCode | undefined;
  device: Device | undefined;
  /** What the TV has done so far. */
  reached: Stage[];
  /** Why it does not get on: said once it is so, gone once it is over. */
  trouble: string | undefined;
  state: 'going' | 'done' | 'failed';
}

export function newPairing(place: Place): Pairing {
  return {
    place,
    code: undefined,
    device: undefined,
    reached: [],
    trouble: undefined,
    state: 'going',
  };
}

/** `Lobby/Main` */
export const placeName = ({ venue, screen }: Place) => `${venue.name}/${screen.name}`;

/** What a shell takes for the screen. */
export function placeWord({ venue, screen }: Place): string {
  const name = placeName({ venue, screen, changes: [] });
  return shellQuote(typedName({ id: screen.id, name }));
}
