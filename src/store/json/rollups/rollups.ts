import type { ReportClock, ReportRow } from '../../../domain/records/report.ts';
import { countBatch, counterGroupOf } from '../../impression-counts.ts';
import type { ImpressionQuery } from '../../store.ts';
import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import type { EventProgress, EventRecord } from '../events/event-record.ts';
import { ImpressionCounter } from './impression-counts.ts';
import { mergedLines } from './merge.ts';
import { ReportTotals } from './report.ts';
import { sectionRuns } from './runs.ts';

/** Days outside these share one document, so that a TV with a wrong clock cannot make a million of them. */
const firstDay = '2000-01-01';
const lastDay = '2099-12-31';
const otherDays = 'other';
/** A report is begun again when a document that it reads is replaced meanwhile: a checkpoint takes longer than a report, so once is usual. */
const tries = 5;

/** One document, and what it does not have yet. */
interface Days {
  clock: ReportClock;
  day: string;
  document: WrittenDocument | undefined;
  /** Since the last snapshot. */
  fresh: ImpressionCounter;
  /** What a snapshot took that is not yet in the document. */
  taken: ImpressionCounter | undefined;
}

/**
 * Daily impressions by clock, day, group, tenant (and once more: venue) and key, exact. Documents `rollups-<clock>-<day>` hold them; what came since the last checkpoint
 * is in memory, and the event log's tail brings that up to date at start.
 */
export class Rollups implements DocumentOwner {
  readonly kind = 'rollups';
  readonly log = 'events';
  readonly readsLate = true;
  readonly #days = new Map<string, Days>();
  readonly #progress: EventProgress;

  constructor(progress: EventProgress) {
    this.#progress = progress;
  }

  /** Takes in a batch that has become durable, or is replayed. Those that a document has come too. */
  apply(record: EventRecord): void {
    for (const counted of countBatch(record.sums, record.receivedAt)) {
      const days = this.#daysOf(rollupDocument(counted.clock, counted.day));
      if (record.seq <= (days.document?.seq ?? 0)) continue;
      days.fresh.add(record, counted);
    }
  }

  dirty(): string[] {
    if (!this.#progress.due()) return [];
    return [...this.#days].filter(([, days]) => days.fresh.sections.size > 0).map(([name]) => name);
  }

  async render(name: string, before: WrittenDocument | undefined): Promise<RenderedDocument> {
    const days = this.#daysOf(name);
    const taken = days.fresh;
    [days.taken, days.fresh] = [taken, new ImpressionCounter()];
    return { lines: mergedLines(before, taken), seq: this.#progress.seq() };
  }

  written(name: string, document: WrittenDocument | undefined): void {
    const days = this.#daysOf(name);
    [days.document, days.taken] = [document, undefined];
  }

  failed(name: string): void {
    const days = this.#daysOf(name);
    if (!days.taken) return;
    days.taken.addAll(days.fresh);
    [days.fresh, days.taken] = [days.taken, undefined];
  }

  async load(name: string, document: WrittenDocument): Promise<void> {
    this.#daysOf(name).document = document;
  }

  /** The report: sorted by key. */
  async impressions(query: ImpressionQuery): Promise<ReportRow[]> {
    for (let left = tries; ; left--) {
      try {
        return (await this.#sum(query)).rows();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || left <= 1) throw error;
      }
    }
  }

  /** What is in memory is taken before the first `await`, and with it the documents that belong to it. */
  async #sum({
    tenantId,
    venueIds,
    groupBy,
    by,
    from = '',
    to = '~',
  }: ImpressionQuery): Promise<ReportTotals> {
    const sections = [...new Set(venueIds ?? [tenantId])]
      .map((scope) => counterGroupOf(groupBy, scope))
      .sort();
    const sums = new ReportTotals();
    const within = (day: string) => day >= from && day < to;
    const wanted = [...this.#days.values()].filter(
      ({ clock, day }) => clock === by && (day === otherDays || within(day)),
    );
    const documents = wanted.map(({ document }) => document);
    for (const { fresh, taken } of wanted) {
      for (const tally of [fresh, taken]) {
        for (const [day, owner] of sections.flatMap((section) => [
          ...(tally?.sections.get(section) ?? []),
        ])) {
          if (within(day))
            for (const [key, cell] of tally?.cellsOf(owner) ?? []) sums.add(key, cell);
        }
      }
    }
    for (const document of documents) {
      if (!document) continue;
      sums.rewind();
      for await (const run of sectionRuns(document, sections))
        if (within(run.day)) sums.addRun(run);
    }
    return sums;
  }

  #daysOf(name: string): Days {
    const known = this.#days.get(name);
    if (known) return known;
    const clock: ReportClock = name.startsWith(`${this.kind}-received-`) ? 'received' : 'timestamp';
    const day = name.slice(`${this.kind}-${clock}-`.length);
    const made: Days = {
      clock,
      day,
      document: undefined,
      fresh: new ImpressionCounter(),
      taken: undefined,
    };
    this.#days.set(name, made);
    return made;
  }
}

/** The document that has a day's impressions. */
export function rollupDocument(clock: ReportClock, day: string): string {
  return `rollups-${clock}-${day >= firstDay && day <= lastDay ? day : otherDays}`;
}
