import type { ImpressionRow } from '../../../domain/records/report.ts';
import { firstDay, type ReportClock } from '../../../domain/records/report.ts';
import type { Records } from '../../dump/records.ts';
import { countBatch, counterGroupOf, lastDay, reportScopes } from '../../impression-counts.ts';
import type { ImpressionQuery } from '../../queries.ts';
import type { EventProgress, EventRecord } from '../log/event-record.ts';
import { DayDocuments } from './day-documents.ts';
import { ImpressionCounter } from './impression-counts.ts';
import { mergedLines } from './merge.ts';
import { ReportTotals, sectionRuns } from './report.ts';

/**
 * Days outside the range share one document, so that TVs with wrong clocks cannot create a million
 * documents.
 */
const otherDays = 'other';

/**
 * Exact impressions of each UTC day that 0.1.0 has counted, by tenant or venue, group and key.
 * Newer batches have offsets, and are counted in `PlayDocuments`.
 */
export class Rollups extends DayDocuments<ImpressionCounter> {
  constructor(progress: EventProgress) {
    super('rollups', progress, { makeCounter: () => new ImpressionCounter(), merged: mergedLines });
  }

  /**
   * Applies a batch that became durable or is replayed. Skips documents that already contain the
   * batch.
   */
  apply(record: EventRecord): void {
    for (const counted of countBatch(record.sums, record.receivedAt)) {
      const name = rollupDocument(counted.clock, counted.day);
      if (record.seq <= (this.daysOf(name).document?.seq ?? 0)) continue;
      this.counterOf(name).add(record, counted);
    }
  }

  /** Adds to one counter, in the document that `rollupDocument` names. */
  addCell({ clock, day, scope, group, key, ...cell }: Records['impressions']): void {
    this.counterOf(rollupDocument(clock, day)).addCell(scope, day, group, key, cell);
  }

  /** Returns the report, sorted by key. */
  impressions(query: ImpressionQuery): Promise<ImpressionRow[]> {
    return this.reading(async () => (await this.#total(query)).rows());
  }

  /**
   * Copies the counts in memory and selects the matching documents before the first `await`.
   * Otherwise a checkpoint could move counts from memory to a document in between.
   */
  async #total(query: ImpressionQuery): Promise<ReportTotals> {
    const { groupBy, by, from = '', to = '~' } = query;
    const sections = reportScopes(query)
      .map((scope) => counterGroupOf(groupBy, scope))
      .sort();
    const totals = new ReportTotals();
    const within = (day: string) => day >= from && day < to;
    const wanted = [...this.all()].filter(
      ({ clock, day }) => clock === by && (day === otherDays || within(day)),
    );
    const documents = wanted.map(({ document }) => document);
    for (const { pending, inSnapshot } of wanted) {
      for (const counter of [...pending, ...inSnapshot]) {
        for (const section of sections) {
          for (const [day, counts] of counter.sections.get(section) ?? [])
            if (within(day)) for (const [key, cell] of counts) totals.add(key, cell);
        }
      }
    }
    for (const document of documents) {
      if (!document) continue;
      for await (const run of sectionRuns(document, sections))
        if (within(run.day)) totals.addRun(run);
    }
    return totals;
  }
}

/** Returns the name of the document that has a day's impressions. */
export function rollupDocument(clock: ReportClock, day: string): string {
  return `rollups-${clock}-${day >= firstDay && day <= lastDay ? day : otherDays}`;
}
