import { dayMs } from '../../../domain/clock.ts';
import { hasCode } from '../../../domain/error.ts';
import type { Reader } from '../../api/client.ts';
import { span } from '../../doctor/ago.ts';
import type { Column } from '../../output/view.ts';

/** The limits of a token. */
export interface Reach {
  expiresAt: string | null;
  venueIds: readonly string[] | null;
}

/** Tokens that expire within this time are flagged, so that they can be replaced in time. */
const soonMs = 7 * dayMs;

/** Whether a token has expired, or expires soon. */
export function expiresSoon({ expiresAt }: Reach, nowMs: number): boolean {
  return expiresAt !== null && Date.parse(expiresAt) - nowMs <= soonMs;
}

/** Formats the expiry of a token: `in 30 d`, `soon: in 3 h`, `expired 2 d ago`. */
function expiryText(reach: Reach, nowMs: number): string {
  if (reach.expiresAt === null) return 'never';
  const remainingMs = Date.parse(reach.expiresAt) - nowMs;
  if (Number.isNaN(remainingMs)) return reach.expiresAt;
  if (remainingMs <= 0) return `expired ${span(remainingMs)} ago`;
  return `${expiresSoon(reach, nowMs) ? 'soon: ' : ''}in ${span(remainingMs)}`;
}

/** Returns the columns for the limits of a token. */
export function reachColumns<T extends Reach>(
  venueName: (id: string) => string,
  nowMs: number,
): Column<T>[] {
  return [
    {
      name: 'venues',
      value: ({ venueIds }) => (venueIds === null ? 'all' : venueIds.map(venueName).join(', ')),
    },
    { name: 'expires', value: (reach) => expiryText(reach, nowMs) },
  ];
}

/** Returns a function that names a venue by its id. */
export const namesOf = (names: ReadonlyMap<string, string>) => (id: string) =>
  names.get(id) ?? `${id} (deleted)`;

/** Fetches the names of a token's venues. Returns a function that names a venue by its id. */
export async function venueNames(
  reader: Pick<Reader, 'read'>,
  { venueIds }: Reach,
): Promise<(id: string) => string> {
  const names = new Map<string, string>();
  await Promise.all(
    (venueIds ?? []).map(async (id) => {
      try {
        names.set(id, (await reader.read('getVenue', { params: { id } })).name);
      } catch (error) {
        if (!hasCode(error, 'venue_not_found')) throw error;
      }
    }),
  );
  return namesOf(names);
}
