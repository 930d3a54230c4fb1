import { dayMs } from '../../../domain/clock.ts';
import type { BatchSums, DaySums, ImpressionCount } from '../../../domain/events/batch-counts.ts';
import { dayOf, type ReportClock, type ReportGroup } from '../../../domain/records/report.ts';

/** Venue and screen of a batch. */
interface BatchPlace {
  venueId: string;
  screenId: string;
}

type BatchSum = [
  group: 'day' | 'campaign' | 'creative' | 'entry',
  key: string,
  impressions: number,
  seconds: number,
];

/**
 * Impressions of one batch on one day, by group and key (ids in lower case). `clock` tells whether
 * it is the day of the timestamps or the day of receipt.
 */
interface DayCells {
  clock: ReportClock;
  day: string;
  cells: [ReportGroup, string, ImpressionCount][];
}

/**
 * Returns a batch's impressions as the JSON that is stored with it, or `null` if there are none.
 * For each day of the events' timestamps, the JSON has the sums of the day, of each campaign, each
 * creative and each entry.
 */
export function keptCounts({ days }: BatchSums): string | null {
  return days.length === 0 ? null : JSON.stringify(days.map(dayToJson));
}

function dayToJson({
  day,
  all,
  campaigns,
  creatives,
  entries,
}: DaySums): [day: string, sums: BatchSum[]] {
  const name = dayOf(day * dayMs);
  const sumsOf = (group: BatchSum[0], cells: Iterable<[string, ImpressionCount]>) =>
    Array.from(
      cells,
      ([key, { impressions, seconds }]): BatchSum => [group, key, impressions, seconds],
    );
  return [
    name,
    [
      ...sumsOf('day', [[name, all]]),
      ...sumsOf('campaign', campaigns),
      ...sumsOf('creative', creatives),
      ...sumsOf('entry', entries),
    ],
  ];
}

/** Expands stored counts to all clocks and groups, once the day of receipt is known. */
export function dayCounts(
  text: string,
  { venueId, screenId }: BatchPlace,
  receivedDay: string,
): DayCells[] {
  const days = JSON.parse(text) as [day: string, sums: BatchSum[]][];
  const cellsOf = (sums: readonly BatchSum[], day: string): DayCells['cells'] =>
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
