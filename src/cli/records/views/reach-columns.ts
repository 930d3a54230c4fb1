import { dayMs } from '../../../domain/clock.ts';
import { hasCode } from '../../../domain/error.ts';
import type { Reader } from '../../api/client.ts';
import { span } from '../../doctor/ago.ts';
import type { Column } from '../../output/view.ts';

/** How far a token goes. */
export interface Reach {
  expiresAt: string | null;
  venueIds: readonly string[] | null;
}

/** What ends within this time is flagged, so that it can be replaced before it does. */
const soonMs = 7 * dayMs;

/** Whether a token has ended, or soon will. */
export function endsSoon({ expiresAt }: Reach, nowMs: number): boolean {
  return expiresAt !== null && Date.parse(expiresAt) - nowMs <= soonMs;
}

/** When a token ends, as people read it: `in 30 d`, `soon: in 3 h`, `expired 2 d ago`. */
function expiryText(reach: Reach, nowMs: number): string {
  if (reach.expiresAt === null) return 'never';
  const leftMs = Date.parse(reach.expiresAt) - nowMs;
  if (Number.isNaN(leftMs)) return reach.expiresAt;
  if (leftMs <= 0) return `expired ${span(leftMs)} ago`;
  return `${endsSoon(reach, nowMs) ? 'soon: ' : ''}in ${span(leftMs)}`;
}

/** The columns that show it. */
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

/** Which name a venue has; one that is gone is called by its id. */
export const namesOf = (names: ReadonlyMap<string, string>) => (id: string) =>
  names.get(id) ?? `${id} (deleted)`;

/** The names of the venues that one token is bound to. */
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
