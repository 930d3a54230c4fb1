import type { ReportClock } from '../../../domain/records/report.ts';
import { linesIn, textLines } from '../checkpoint/document-file.ts';
import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import type { EventProgress } from '../log/event-record.ts';

export type Lines = Iterable<string> | AsyncIterable<string>;

/** A document of one day and clock, and the counts not yet written to it. */
export interface DocumentCounts<C> {
  clock: ReportClock;
  day: string;
  document: WrittenDocument | undefined;
  /** Counts since the last checkpoint. Counts are added to the last counter. */
  pending: C[];
  /** Counts that a checkpoint is writing. */
  inSnapshot: C[];
}

/** How one kind of counts is kept. */
interface Counting<C> {
  makeCounter: () => C;
  /** Returns the lines of a document with the counts of a counter added, in order. */
  merged: (before: Lines, counter: C) => Lines;
}

/**
 * Maximum number of attempts per report. A report restarts when a checkpoint replaces a document it
 * reads. Two checkpoints during one report are rare.
 */
const maxAttempts = 5;

/**
 * Counts of each day. The documents `<kind>-<clock>-<day>` hold them. `<clock>` is `timestamp` for
 * the day of the events' timestamps, or `received` for the day of receipt. Counts that no document
 * contains yet are in memory. A start restores them from the event log.
 */
export class DayDocuments<C extends { readonly isEmpty: boolean }> implements DocumentOwner {
  readonly kind: string;
  readonly log = 'events';
  readonly readsLate = true;
  readonly #days = new Map<string, DocumentCounts<C>>();
  readonly #progress: EventProgress;
  readonly #counting: Counting<C>;

  constructor(kind: string, progress: EventProgress, counting: Counting<C>) {
    this.kind = kind;
    this.#progress = progress;
    this.#counting = counting;
  }

  /** Returns the counter that gets new counts of a document. */
  counterOf(name: string): C {
    const { pending } = this.daysOf(name);
    if (pending.length === 0) pending.push(this.#counting.makeCounter());
    return pending.at(-1) as C;
  }

  /** Returns all documents with their counts. */
  all(): IterableIterator<DocumentCounts<C>> {
    return this.#days.values();
  }

  dirty(): string[] {
    if (!this.#progress.due()) return [];
    return [...this.#days]
      .filter(([, { pending }]) => pending.some(({ isEmpty }) => !isEmpty))
      .map(([name]) => name);
  }

  async render(name: string, before: WrittenDocument | undefined): Promise<RenderedDocument> {
    const days = this.daysOf(name);
    const inSnapshot = days.pending;
    days.inSnapshot = inSnapshot;
    days.pending = [];
    // Read before the first `await`: batches that arrive later are not in this snapshot.
    const seq = this.#progress.seq();
    const lines = textLines((await before?.text()) ?? '');
    return { lines: this.#merge(lines, inSnapshot), seq };
  }

  #merge(before: Lines, counters: readonly C[]): Lines {
    const { merged } = this.#counting;
    return counters.reduce<Lines>((lines, counter) => merged(lines, counter), before);
  }

  /**
   * Returns the lines of each document as they are now, to be read later, ordered by document. The
   * documents must not be deleted until then.
   */
  snapshot(): () => Generator<{ clock: ReportClock; lines: Lines }> {
    const all = [...this.#days].sort(([one], [other]) => (one < other ? -1 : 1));
    const taken = all.map(([, days]) => {
      const { clock, document, inSnapshot, pending } = days;
      // Later counts go to another counter.
      if (pending.length > 0) days.pending = [...pending, this.#counting.makeCounter()];
      return { clock, document, counters: [...inSnapshot, ...pending] };
    });
    const merge = (lines: Lines, counters: readonly C[]) => this.#merge(lines, counters);
    return function* () {
      for (const { clock, document, counters } of taken)
        yield { clock, lines: merge(document ? linesIn(document) : [], counters) };
    };
  }

  written(name: string, document: WrittenDocument | undefined): void {
    const days = this.daysOf(name);
    days.document = document;
    days.inSnapshot = [];
  }

  failed(name: string): void {
    const days = this.daysOf(name);
    days.pending = [...days.inSnapshot, ...days.pending];
    days.inSnapshot = [];
  }

  async load(name: string, document: WrittenDocument): Promise<void> {
    this.daysOf(name).document = document;
  }

  /** Runs a report again if a checkpoint replaced a document meanwhile. */
  async reading<T>(read: () => Promise<T>): Promise<T> {
    for (let attemptsLeft = maxAttempts; ; attemptsLeft--) {
      try {
        return await read();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attemptsLeft <= 1) throw error;
      }
    }
  }

  daysOf(name: string): DocumentCounts<C> {
    const known = this.#days.get(name);
    if (known) return known;
    const [, clock = 'timestamp', day = ''] = /^[a-z]+-(received|timestamp)-(.*)$/.exec(name) ?? [];
    const created: DocumentCounts<C> = {
      clock: clock as ReportClock,
      day,
      document: undefined,
      pending: [],
      inSnapshot: [],
    };
    this.#days.set(name, created);
    return created;
  }
}
