import { firstDay, type ReportClock, type ReportRow } from '../../../domain/records/report.ts';
import type { Records } from '../../dump/records.ts';
import { countBatch, counterGroupOf, lastDay, reportScopes } from '../../impression-counts.ts';
import type { ImpressionQuery } from '../../queries.ts';
import { linesIn, textLines } from '../checkpoint/document-file.ts';
import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import type { EventProgress, EventRecord } from '../log/event-record.ts';
import { ImpressionCounter } from './impression-counts.ts';
import { mergedLines } from './merge.ts';
import { ReportTotals, sectionRuns } from './report.ts';

/**
 * Days outside the range share one document, so that TVs with wrong clocks cannot create a million
 * documents.
 */
const otherDays = 'other';
/**
 * Maximum number of attempts per report. A report restarts when a checkpoint replaces a document it
 * reads. Two checkpoints during one report are rare.
 */
const maxAttempts = 5;

type Lines = Iterable<string> | AsyncIterable<string>;

/** A rollup document, and the counts not yet written to it. */
interface DocumentCounts {
  clock: ReportClock;
  day: string;
  document: WrittenDocument | undefined;
  /** Counts since the last checkpoint. Counts are added to the last counter. */
  pending: ImpressionCounter[];
  /** Counts that a checkpoint is writing. */
  inSnapshot: ImpressionCounter[];
}

/**
 * Exact impressions of each day, by tenant or venue, group and key. The documents
 * `rollups-<clock>-<day>` hold the counts. `<clock>` is `timestamp` for the day of the events'
 * timestamps, or `received` for the day of receipt. Counts that no document contains yet are in
 * memory. A start restores them from the event log.
 */
export class Rollups implements DocumentOwner {
  readonly kind = 'rollups';
  readonly log = 'events';
  readonly readsLate = true;
  readonly #days = new Map<string, DocumentCounts>();
  readonly #progress: EventProgress;

  constructor(progress: EventProgress) {
    this.#progress = progress;
  }

  /**
   * Applies a batch that became durable or is replayed. Skips documents that already contain the
   * batch.
   */
  apply(record: EventRecord): void {
    for (const counted of countBatch(record.sums, record.receivedAt)) {
      const days = this.#daysOf(rollupDocument(counted.clock, counted.day));
      if (record.seq <= (days.document?.seq ?? 0)) continue;
      currentCounter(days).add(record, counted);
    }
  }

  /** Adds to one counter, in the document that `rollupDocument` names. */
  addCell({ clock, day, scope, group, key, ...cell }: Records['impressions']): void {
    const days = this.#daysOf(rollupDocument(clock, day));
    currentCounter(days).addCell(scope, day, group, key, cell);
  }

  dirty(): string[] {
    if (!this.#progress.due()) return [];
    return [...this.#days]
      .filter(([, { pending }]) => pending.some(({ sections }) => sections.size > 0))
      .map(([name]) => name);
  }

  async render(name: string, before: WrittenDocument | undefined): Promise<RenderedDocument> {
    const days = this.#daysOf(name);
    const inSnapshot = days.pending;
    days.inSnapshot = inSnapshot;
    days.pending = [];
    // Read before the first `await`: batches that arrive later are not in this snapshot.
    const seq = this.#progress.seq();
    const lines = textLines((await before?.text()) ?? '');
    return { lines: inSnapshot.reduce<Lines>(mergedLines, lines), seq };
  }

  /**
   * Returns the lines of all documents as they are now, to be read later, ordered by document. The
   * documents must not be deleted until then.
   */
  snapshot(): () => AsyncGenerator<{ clock: ReportClock; line: string }> {
    const all = [...this.#days].sort(([one], [other]) => (one < other ? -1 : 1));
    const taken = all.map(([, days]) => {
      const { clock, document, inSnapshot, pending } = days;
      // Later counts go to another counter.
      if (pending.length > 0) days.pending = [...pending, new ImpressionCounter()];
      return { clock, document, counters: [...inSnapshot, ...pending] };
    });
    return async function* () {
      for (const { clock, document, counters } of taken) {
        const lines = document ? linesIn(document) : [];
        for await (const line of counters.reduce<Lines>(mergedLines, lines)) yield { clock, line };
      }
    };
  }

  written(name: string, document: WrittenDocument | undefined): void {
    const days = this.#daysOf(name);
    days.document = document;
    days.inSnapshot = [];
  }

  failed(name: string): void {
    const days = this.#daysOf(name);
    days.pending = [...days.inSnapshot, ...days.pending];
    days.inSnapshot = [];
  }

  async load(name: string, document: WrittenDocument): Promise<void> {
    this.#daysOf(name).document = document;
  }

  /** Returns the report, sorted by key. */
  async impressions(query: ImpressionQuery): Promise<ReportRow[]> {
    for (let attemptsLeft = maxAttempts; ; attemptsLeft--) {
      try {
        return (await this.#total(query)).rows();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attemptsLeft <= 1) throw error;
      }
    }
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
    const wanted = [...this.#days.values()].filter(
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

  #daysOf(name: string): DocumentCounts {
    const known = this.#days.get(name);
    if (known) return known;
    const clock: ReportClock = name.startsWith(`${this.kind}-received-`) ? 'received' : 'timestamp';
    const day = name.slice(`${this.kind}-${clock}-`.length);
    const created: DocumentCounts = {
      clock,
      day,
      document: undefined,
      pending: [],
      inSnapshot: [],
    };
    this.#days.set(name, created);
    return created;
  }
}

function currentCounter({ pending }: DocumentCounts): ImpressionCounter {
  if (pending.length === 0) pending.push(new ImpressionCounter());
  return pending.at(-1) as ImpressionCounter;
}

/** Returns the name of the document that has a day's impressions. */
export function rollupDocument(clock: ReportClock, day: string): string {
  return `rollups-${clock}-${day >= firstDay && day <= lastDay ? day : otherDays}`;
}
