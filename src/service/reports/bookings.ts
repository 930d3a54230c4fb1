import { dayMs } from '../../domain/clock.ts';
import { type PlayKey, sumOfSeconds } from '../../domain/events/plays.ts';
import { largest, smallest } from '../../domain/numbers/extremes.ts';
import type { ReportQuery, ReportRow } from '../../domain/records/report.ts';
import type { Campaign } from '../../domain/records/rows.ts';
import type { PlayPlace, PlayVisitor } from '../../store/queries.ts';
import type { ServiceDependencies, TenantPrincipal } from '../context.ts';
import { idOfRow } from './campaigns.ts';

/** A booking, and what was delivered of it. */
interface Delivery {
  booking: Campaign;
  /** Days, counted from 1 January 1970. `toDay` is exclusive. */
  fromDay: number;
  toDay: number;
  plays: number;
  seconds: number;
}

/** Whether there is something to compare. */
const isMeasured = ({ bookedPlays, bookedSeconds }: Campaign) =>
  (bookedPlays ?? bookedSeconds) !== undefined;

const dayNumberOf = (day: string | undefined, open: number) =>
  day === undefined ? open : Date.parse(day) / dayMs;

function deliveryOf(booking: Campaign): Delivery {
  const fromDay = dayNumberOf(booking.from, Number.NEGATIVE_INFINITY);
  const toDay = dayNumberOf(booking.to, Number.POSITIVE_INFINITY);
  return { booking, fromDay, toDay, plays: 0, seconds: 0 };
}

function add(delivery: Delivery, plays: number, seconds: number): void {
  delivery.plays += plays;
  delivery.seconds = sumOfSeconds(delivery.seconds, seconds);
}

/** Adds up what was delivered of bookings on their days of venues. */
class Deliveries implements PlayVisitor {
  /** By the id of the campaign. */
  readonly all: ReadonlyMap<string, Delivery>;
  #day = 0;

  constructor(bookings: readonly Campaign[]) {
    this.all = new Map(bookings.map((row) => [idOfRow(row), deliveryOf(row)]));
  }

  place({ day, shift, simulated }: PlayPlace): boolean {
    this.#day = day + shift;
    return !simulated;
  }

  readonly cell = ({ campaignId }: PlayKey, plays: number, seconds: number): void => {
    const delivery = this.all.get(campaignId);
    if (delivery && this.#day >= delivery.fromDay && this.#day < delivery.toDay)
      add(delivery, plays, seconds);
  };
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

/** Bookings in the report by campaign (docs/protocol.md §5.6). */
export function makeBookings({ store }: Pick<ServiceDependencies, 'store'>) {
  async function bookingsOf(tenantId: string): Promise<Campaign[]> {
    const ids = await store.read.ids('campaigns', 'bookedIn', [tenantId]);
    const rows = await Promise.all([...ids].map((id) => store.read.get('campaigns', id)));
    return rows.filter((row) => row !== undefined);
  }

  /** Adds impressions that 0.1.0 has counted. They have UTC days. */
  async function addOldCounts(
    tenantId: string,
    by: ReportQuery['by'],
    { all }: Deliveries,
  ): Promise<void> {
    const old = { tenantId, by, groupBy: 'campaign', simulated: 'exclude' } as const;
    for (const { key } of await store.impressions(old)) {
      const delivery = all.get(key);
      if (!delivery) continue;
      const { from, to } = delivery.booking;
      const onDays = await store.impressions({ ...old, from, to });
      const row = onDays.find((one) => one.key === key);
      if (row) add(delivery, row.impressions, row.seconds);
    }
  }

  async function deliveriesOf(
    tenantId: string,
    by: ReportQuery['by'],
    bookings: readonly Campaign[],
  ): Promise<Deliveries> {
    const measured = bookings.filter(isMeasured).map(deliveryOf);
    if (measured.length === 0) return new Deliveries(bookings);
    const finite = (day: number) => (Number.isFinite(day) ? day : undefined);
    // A local day has parts of the UTC days before and after.
    const from = finite(smallest(measured.map(({ fromDay }) => fromDay)) - 1);
    const to = finite(largest(measured.map(({ toDay }) => toDay)) + 1);
    const found = await store.plays({ tenantId, by, from, to }, () => new Deliveries(bookings));
    await addOldCounts(tenantId, by, found);
    return found;
  }

  const emptyRow = (key: string, name: string): ReportRow => ({
    key,
    name,
    impressions: 0,
    seconds: 0,
    fullPlays: 0,
    partialPlays: 0,
    unknownPlays: 0,
    plays: 0,
  });

  function withBooking(row: ReportRow, { booking, plays, seconds }: Delivery): ReportRow {
    const { client, from, to, bookedPlays, bookedSeconds } = booking;
    const delivered = {
      deliveredPlays: plays,
      deliveredSeconds: Math.round(seconds * 1000) / 1000,
    };
    return {
      ...row,
      client,
      bookedPlays,
      bookedSeconds,
      bookedFrom: from,
      bookedTo: to,
      ...(isMeasured(booking) && delivered),
    };
  }

  /** Returns the rows of a report by campaign with bookings, and those of which nothing played. */
  return async (
    tenantId: string,
    { by, from, to }: ReportQuery,
    rows: readonly ReportRow[],
  ): Promise<ReportRow[]> => {
    const bookings = await bookingsOf(tenantId);
    if (bookings.length === 0) return [...rows];
    const found = await deliveriesOf(tenantId, by, bookings);
    const missing = new Map(found.all);
    for (const { key } of rows) missing.delete(key);
    const fromDay = dayNumberOf(from, Number.NEGATIVE_INFINITY);
    const toDay = dayNumberOf(to, Number.POSITIVE_INFINITY);
    const unplayed = [...missing].filter(
      ([, delivery]) =>
        isMeasured(delivery.booking) && delivery.fromDay < toDay && delivery.toDay > fromDay,
    );
    const all = [...rows, ...unplayed.map(([key, { booking }]) => emptyRow(key, booking.name))];
    return all
      .sort((one, other) => (one.key < other.key ? -1 : 1))
      .map((row) => {
        const delivery = found.all.get(row.key);
        return delivery ? withBooking(row, delivery) : row;
      });
  };
}
