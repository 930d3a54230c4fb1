import type { CountedEvent } from '../../domain/event.ts';
import type { ReportGroup } from '../../domain/report.ts';
import { type Cell, countBatch, type DayCount } from '../impression-tally.ts';

/** Where a batch came from. */
export interface BatchPlace {
  venueId: string;
  screenId: string;
}

type Sum = [group: 'day' | 'campaign' | 'creative', key: string, impressions: number, seconds: number];

/**
 * A batch's impressions as they are kept beside it, as JSON: of each day by the events' own clock, the sums of the day and of each campaign and creative.
 * `null` when there are none.
 */
export function keptCounts(events: readonly CountedEvent[], place: BatchPlace): string | null {
  const counts = countBatch({ ...place, events, receivedAt: 0 });
  const days = counts.filter(({ clock }) => clock === 'timestamp').map(({ day, cells }) => [day, cells.flatMap(kept)] as const);
  return days.length === 0 ? null : JSON.stringify(days);
}

function kept([group, key, { impressions, seconds }]: [ReportGroup, string, Cell]): Sum[] {
  return group === 'day' || group === 'campaign' || group === 'creative' ? [[group, key, impressions, seconds]] : [];
}

/** The same as counts by every clock and group, now that the day of receipt is known. */
export function dayCounts(text: string, { venueId, screenId }: BatchPlace, receivedDay: string): DayCount[] {
  const days = JSON.parse(text) as [day: string, sums: Sum[]][];
  const cellsOf = (sums: readonly Sum[], day: string): DayCount['cells'] =>
    sums.flatMap(([group, key, impressions, seconds]): DayCount['cells'] => {
      const cell = { impressions, seconds };
      if (group !== 'day') return [[group, key, cell]];
      return [
        ['day', day, cell],
        ['screen', screenId.toLowerCase(), cell],
        ['venue', venueId.toLowerCase(), cell],
      ];
    });
  return [
    ...days.map(([day, sums]): DayCount => ({ clock: 'timestamp', day, cells: cellsOf(sums, day) })),
    {
      clock: 'received',
      day: receivedDay,
      cells: cellsOf(
        days.flatMap(([, sums]) => sums),
        receivedDay,
      ),
    },
  ];
}
