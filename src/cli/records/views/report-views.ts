import { dayMs } from '../../../domain/clock.ts';
import type { CoverageRow } from '../../../domain/planned/coverage.ts';
import type { ReportRow } from '../../../domain/records/report.ts';
import { type Column, member, members, type View } from '../../output/view.ts';

/** Rounds a sum of fractions to one decimal, because binary fractions are rarely exact. */
const oneDecimal = (value: number) => Math.round(value * 10) / 10;

const seconds: Column<ReportRow> = {
  ...member<ReportRow, 'seconds'>('seconds'),
  shown: (row) => oneDecimal(row.seconds),
};

/** Formats what was delivered as a part of what was booked, never rounded up: `84 % of 5,000`. */
const partOf = (delivered = 0, booked: number, unit: string) =>
  `${Math.floor((100 * delivered) / booked)} % of ${booked.toLocaleString('en')}${unit}`;

/** Columns of the booking of a campaign, and of what was delivered of it. */
const bookingColumns: readonly Column<ReportRow>[] = [
  {
    name: 'booked',
    value({ bookedPlays, deliveredPlays, bookedSeconds, deliveredSeconds }) {
      const plays = bookedPlays && partOf(deliveredPlays, bookedPlays, '');
      const seconds = bookedSeconds && partOf(deliveredSeconds, bookedSeconds, ' s');
      return [plays, seconds].filter(Boolean).join(', ') || null;
    },
  },
  {
    name: 'bookedDays',
    value: ({ bookedFrom, bookedTo }) => daysText(bookedFrom, bookedTo),
    wide: true,
  },
  member<ReportRow, 'client'>('client', { wide: true }),
];

/** Formats days before `to` by the first and the last one. `null`: all days. */
export function daysText(from: string | undefined, to: string | undefined): string | null {
  if (to === undefined) return from === undefined ? null : `from ${from}`;
  const last = new Date(Date.parse(to) - dayMs).toISOString().slice(0, 10);
  return from === undefined ? `until ${last}` : `${from} to ${last}`;
}

/** Columns of the key of a group, and of its name. Keys that are names are not shown twice. */
function keyColumns(
  group: string | undefined,
  place: '' | '2',
): [Column<ReportRow>, Column<ReportRow>] {
  const isName = group === 'day' || group === 'entry';
  const nameOf = (row: ReportRow) => row[`name${place}`] ?? row[`key${place}`];
  return [
    member<ReportRow, `key${typeof place}`>(`key${place}`, { wide: !isName }),
    {
      ...member<ReportRow, `name${typeof place}`>(`name${place}`, { wide: isName }),
      shown: nameOf,
    },
  ];
}

/**
 * Returns the view of a report by one group or two, with the columns of the CSV of the service.
 * With `isBooked`, also those of bookings, for people.
 */
export function impressionView(groupBy: string, isBooked: boolean): View<ReportRow> {
  const [first, second] = groupBy.split(',');
  const counts = [
    member<ReportRow, 'fullPlays'>('fullPlays'),
    member<ReportRow, 'partialPlays'>('partialPlays', { wide: true }),
    member<ReportRow, 'unknownPlays'>('unknownPlays', { wide: true }),
    member<ReportRow, 'plays'>('plays', { wide: groupBy === 'campaign' }),
  ];
  const impressions = { ...member<ReportRow, 'impressions'>('impressions'), bar: true };
  const nameOf = ({ key, key2 }: ReportRow) => (key2 === undefined ? key : `${key} ${key2}`);
  const [key, name] = keyColumns(first, '');
  if (second === undefined)
    return {
      columns: [key, impressions, seconds, ...counts, ...(isBooked ? bookingColumns : []), name],
      nameOf,
    };
  const columns = [key, name, ...keyColumns(second, '2'), impressions, seconds, ...counts];
  return { columns, nameOf };
}

/** Shows seconds to one decimal, in the column of a member. */
const rounded = (
  name: 'plannedSeconds' | 'playedSeconds' | 'coveredSeconds',
  more: { wide?: boolean } = {},
): Column<CoverageRow> => ({
  ...member<CoverageRow, typeof name>(name, more),
  shown: (row) => oneDecimal(row[name]),
});

/** Returns the view of coverage by a group. */
export function coverageView(groupBy: string): View<CoverageRow> {
  const isDay = groupBy === 'day';
  const name: Column<CoverageRow> = {
    ...member<CoverageRow, 'name'>('name', { wide: isDay }),
    shown: (row) => row.name ?? row.key,
  };
  const coverage: Column<CoverageRow> = {
    ...member<CoverageRow, 'coverage'>('coverage'),
    shown: (row) => (row.coverage === null ? null : `${oneDecimal(row.coverage * 100)} %`),
  };
  const hasLost = groupBy === 'screen' || groupBy === 'venue';
  return {
    columns: [
      member<CoverageRow, 'key'>('key', { wide: !isDay }),
      name,
      rounded('plannedSeconds'),
      rounded('playedSeconds'),
      rounded('coveredSeconds', { wide: true }),
      coverage,
      ...members<CoverageRow>('plays', 'late', 'unplaced'),
      ...(hasLost ? members<CoverageRow>('lost') : []),
      member<CoverageRow, 'incomplete'>('incomplete', { wide: true }),
    ],
    nameOf: ({ key }) => key,
  };
}
