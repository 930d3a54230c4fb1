import { dayMs } from '../../../domain/clock.ts';
import type { BatchSums, Cell, DaySums } from '../../../domain/events/batch-counts.ts';
import { dayOf, type ReportClock, type ReportGroup } from '../../../domain/records/report.ts';

/** Where a batch came from. */
interface BatchPlace {
  venueId: string;
  screenId: string;
}

type Sum = [
  group: 'day' | 'campaign' | 'creative',
  key: string,
  impressions: number,
  seconds: number,
];

/** The impressions of one clock's day in one batch, by group and key (ids in lower case). */
interface DayCells {
  clock: ReportClock;
  day: string;
  cells: [ReportGroup, string, Cell][];
}

/**
 * A batch's impressions as they are kept beside it, as JSON: of each day by the events' own clock, the sums of the day and of each campaign and creative.
 * `null` when there are none.
 */
export function keptCounts({ days }: BatchSums): string | null {
  return days.length === 0 ? null : JSON.stringify(days.map(keptDay));
}

function keptDay({ day, all, campaigns, creatives }: DaySums): [day: string, sums: Sum[]] {
  const name = dayOf(day * dayMs);
  const sumsOf = (group: Sum[0], cells: Iterable<[string, Cell]>) =>
    Array.from(cells, ([key, { impressions, seconds }]): Sum => [group, key, impressions, seconds]);
  return [
    name,
    [
      ...sumsOf('day', [[name, all]]),
      ...sumsOf('campaign', campaigns),
      ...sumsOf('creative', creatives),
    ],
  ];
}

/** The same as counts by every clock and group, now that the day of receipt is known. */
export function dayCounts(
  text: string,
  { venueId, screenId }: BatchPlace,
  receivedDay: string,
): DayCells[] {
  const days = JSON.parse(text) as [day: string, sums: Sum[]][];
  const cellsOf = (sums: readonly Sum[], day: string): DayCells['cells'] =>
    sums.flatMap(([group, key, impressions, seconds]): DayCells['cells'] => {
      const cell = { impressions, seconds };
      if (group !== 'day') return [[group, key, cell]];
      return [
        ['day', day, cell],
        ['screen', screenId.toLowerCase(), cell],
        ['venue', venueId.toLowerCase(), cell],
      ];
    });
  const all = days.flatMap(([, sums]) => sums);
  return [
    ...days.map(
      ([day, sums]): DayCells => ({ clock: 'timestamp', day, cells: cellsOf(sums, day) }),
    ),
    { clock: 'received', day: receivedDay, cells: cellsOf(all, receivedDay) },
  ];
}
