import { dayMs } from '../../domain/clock.ts';
import { type PlayKey, roundedSeconds, sumOfSeconds } from '../../domain/events/plays.ts';
import { largest, smallest } from '../../domain/numbers/extremes.ts';
import type { ReportQuery, ReportRow } from '../../domain/records/report.ts';
import type { Campaign } from '../../domain/records/rows.ts';
import type { PlayPlace, PlayVisitor } from '../../store/queries.ts';
import type { ServiceDependencies, TenantPrincipal } from '../context.ts';
import { idOfRow } from './campaigns.ts';

type Bookings = ReadonlyMap<string, Campaign>;

/** Days, counted from 1 January 1970. */
interface Days {
  from: number;
  to: number;
}

/** The `to` is exclusive. Without an end, the days are open there. */
const daysOf = ({ from, to }: { from?: string | undefined; to?: string | undefined }): Days => ({
  from: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from) / dayMs,
  to: to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to) / dayMs,
});

/** Adds up what was delivered of bookings on their days of venues. */
class Deliveries implements PlayVisitor {
  readonly #days: ReadonlyMap<string, Days>;
  readonly #sums = new Map<string, { plays: number; seconds: number }>();
  #day = 0;

  constructor(bookings: Bookings) {
    this.#days = new Map(Array.from(bookings, ([id, booking]) => [id, daysOf(booking)]));
  }

  place({ day, shift, simulated }: PlayPlace): boolean {
    this.#day = day + shift;
    return !simulated;
  }

  readonly cell = ({ campaignId }: PlayKey, plays: number, seconds: number): void => {
    const days = this.#days.get(campaignId);
    if (days && this.#day >= days.from && this.#day < days.to) this.add(campaignId, plays, seconds);
  };

  add(id: string, plays: number, seconds: number): void {
    const sum = this.of(id);
    this.#sums.set(id, { plays: sum.plays + plays, seconds: sumOfSeconds(sum.seconds, seconds) });
  }

  of(id: string): { plays: number; seconds: number } {
    return this.#sums.get(id) ?? { plays: 0, seconds: 0 };
  }
}

/**
 * Whether a report shows bookings: only one of all screens of the tenant can be compared with them.
 */
export const showsBookings = (
  { venueIds }: TenantPrincipal,
  { groupBy, simulated, venueId, screenId, selector }: ReportQuery,
): boolean =>
  groupBy.join() === 'campaign' &&
  simulated !== 'only' &&
  !(venueIds ?? venueId ?? screenId ?? selector);

const isMeasured = ({ bookedPlays, bookedSeconds }: Campaign) =>
  (bookedPlays ?? bookedSeconds) !== undefined;

async function deliveriesOf(
  store: ServiceDependencies['store'],
  tenantId: string,
  by: ReportQuery['by'],
  bookings: Bookings,
): Promise<Deliveries> {
  const days = Array.from(bookings.values(), daysOf);
  const finite = (day: number) => (Number.isFinite(day) ? day : undefined);
  // A local day has parts of the UTC days before and after.
  const from = finite(smallest(days.map((one) => one.from)) - 1);
  const to = finite(largest(days.map((one) => one.to)) + 1);
  const found = await store.plays({ tenantId, by, from, to }, () => new Deliveries(bookings));
  // 0.1.0 has counted by UTC days.
  const old = { tenantId, by, groupBy: 'campaign', simulated: 'exclude' } as const;
  for (const { key } of await store.impressions(old)) {
    const booking = bookings.get(key);
    if (!booking) continue;
    const onDays = await store.impressions({ ...old, from: booking.from, to: booking.to });
    const row = onDays.find((one) => one.key === key);
    if (row) found.add(key, row.impressions, row.seconds);
  }
  return found;
}

/**
 * Adds bookings to the rows of a report by campaign (docs/protocol.md §5.6), and rows of campaigns
 * that are booked and have not played.
 */
export async function withBookings(
  store: ServiceDependencies['store'],
  tenantId: string,
  { by, ...range }: ReportQuery,
  rows: readonly ReportRow[],
): Promise<ReportRow[]> {
  const ids = await store.read.ids('campaigns', 'bookedIn', [tenantId]);
  const stored = await Promise.all([...ids].map((id) => store.read.get('campaigns', id)));
  const bookings: Bookings = new Map(stored.flatMap((row) => (row ? [[idOfRow(row), row]] : [])));
  if (bookings.size === 0) return [...rows];
  const deliveries = await deliveriesOf(store, tenantId, by, bookings);
  const played = new Set(rows.map(({ key }) => key));
  const days = daysOf(range);
  const unplayed = [...bookings].filter(([id, booking]) => {
    const booked = daysOf(booking);
    return !played.has(id) && isMeasured(booking) && booked.from < days.to && booked.to > days.from;
  });
  const none = { impressions: 0, seconds: 0, fullPlays: 0, partialPlays: 0, unknownPlays: 0 };
  const empty = unplayed.map(([key, { name }]) => ({ key, name, ...none, plays: 0 }));
  const all = [...rows, ...empty].sort((one, other) => (one.key < other.key ? -1 : 1));
  return all.map((row) => {
    const booking = bookings.get(row.key);
    if (!booking) return row;
    const { client, bookedPlays, bookedSeconds, from: bookedFrom, to: bookedTo } = booking;
    const { plays, seconds } = deliveries.of(row.key);
    const delivered = {
      deliveredPlays: plays,
      deliveredSeconds: roundedSeconds(seconds),
    };
    const booked = { client, bookedPlays, bookedSeconds, bookedFrom, bookedTo };
    return { ...row, ...booked, ...(isMeasured(booking) && delivered) };
  });
}
