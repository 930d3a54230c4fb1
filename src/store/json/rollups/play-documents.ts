import { dayMs } from '../../../domain/clock.ts';
import { type PlayKey, textOfKey } from '../../../domain/events/plays.ts';
import type { ReportClock } from '../../../domain/records/report.ts';
import { playCell, type Records } from '../../dump/records.ts';
import { countPlays, documentDay, parsePlace, placeText } from '../../plays.ts';
import type { PlayQuery, PlayVisitor } from '../../queries.ts';
import type { EventProgress, EventRecord } from '../log/event-record.ts';
import { DayDocuments } from './day-documents.ts';
import { mergedPlays, PlayCounter } from './play-lines.ts';
import { PlayReader } from './play-reader.ts';

export function playDocument(clock: ReportClock, day: number): string {
  return `plays-${clock}-${documentDay(day)}`;
}

/**
 * Exact counts of impressions and plays, in one cell for each screen, UTC day, local day, and key
 * that was played. A document has two kinds of lines. The first ones number its keys, so that a
 * cell takes few bytes: `["",<number>,"<creative>","<campaign>","<entry>"]`. The others have the
 * cells of a place, sorted by place:
 *
 *     ["<tenant>","0020777","<venue>","<screen>",<shift>,<simulated>,"<cells>"]
 */
export class PlayDocuments extends DayDocuments<PlayCounter> {
  constructor(progress: EventProgress) {
    super('plays', progress, { makeCounter: () => new PlayCounter(), merged: mergedPlays });
  }

  /** Like `Rollups.apply`. */
  apply(record: EventRecord): void {
    const { tenantId, venueId, screenId, simulated = false } = record;
    for (const { clock, cells, ...days } of countPlays(record.sums, record.receivedAt)) {
      const name = playDocument(clock, days.day);
      if (record.seq <= (this.daysOf(name).document?.seq ?? 0)) continue;
      const place = placeText({ tenantId, venueId, screenId, simulated, ...days });
      const counter = this.counterOf(name);
      for (const [text, cell] of cells) counter.add(place, text, cell);
    }
  }

  /** Adds the cells of one place. */
  addPlace({ cells, ...place }: Records['plays']): void {
    const name = playDocument(place.clock, place.day);
    const text = placeText({ ...place, simulated: place.simulated === true });
    const counter = this.counterOf(name);
    for (const values of cells) {
      const cell = playCell(values);
      counter.add(text, textOfKey(cell), cell);
    }
  }

  /** Gives all counts of a tenant between two UTC days to a visitor. */
  read<V extends PlayVisitor>(query: PlayQuery, begin: () => V): Promise<V> {
    return this.reading(async () => {
      const visitor = begin();
      const { tenantId, by, from = 0, to = Number.POSITIVE_INFINITY } = query;
      const within = (day: number) => day >= from && day < to;
      const wanted = [...this.all()].filter(({ clock, day }) => {
        if (clock !== by) return false;
        return day === 'other' || within(Date.parse(day) / dayMs);
      });
      // Before the first `await`, as in `Rollups`.
      const documents = wanted.map(({ document }) => document);
      for (const { clock, pending, inSnapshot } of wanted) {
        for (const { places, keys } of [...inSnapshot, ...pending]) {
          for (const [text, cells] of places) {
            const place = parsePlace(text, clock);
            if (place.tenantId !== tenantId || !within(place.day) || !visitor.place(place))
              continue;
            for (const [number, { events, seconds, partial, unknown }] of cells)
              visitor.cell(keys.list[number] as PlayKey, events, seconds, partial, unknown);
          }
        }
      }
      const reader = new PlayReader(by, tenantId, within, visitor);
      for (const document of documents) if (document) await reader.read(document);
      return visitor;
    });
  }
}
