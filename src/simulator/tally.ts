import { SignageError } from '../domain/error.ts';

/** Failures of one kind: how many, and what the first said. */
export interface Failures {
  code: string;
  count: number;
  message: string;
}

/** What happened to a fleet. */
export interface Tally {
  /** TVs that were asked for, and those that were bound to a screen. */
  tvs: number;
  registered: number;
  /** Answers to playlist requests: a playlist, "not changed", or none for the screen. */
  playlistsFetched: number;
  playlistsUnchanged: number;
  playlistsMissing: number;
  configsFetched: number;
  eventsSent: number;
  /** Events that the service promised to keep, and those of them that `GET /v1/events` showed. */
  eventsAcknowledged: number;
  eventsFound: number;
  /** Ordered by code; empty when all went well. */
  failures: Failures[];
}

type Count = Exclude<keyof Tally, 'failures'>;

/** Keeps a tally. */
export class TallyKeeper {
  readonly #counts: Record<Count, number>;
  readonly #failures = new Map<string, Failures>();
  readonly #changed: ((tally: Tally) => void) | undefined;

  constructor(tvs: number, changed?: (tally: Tally) => void) {
    this.#counts = {
      tvs,
      registered: 0,
      playlistsFetched: 0,
      playlistsUnchanged: 0,
      playlistsMissing: 0,
      configsFetched: 0,
      eventsSent: 0,
      eventsAcknowledged: 0,
      eventsFound: 0,
    };
    this.#changed = changed;
  }

  add(count: Count, by = 1): void {
    this.#counts[count] += by;
    this.#changed?.(this.view());
  }

  /** Notes a failure under its code; what is no `SignageError` is a mistake of ours, `unexpected`. */
  fail(error: unknown): void {
    const code = error instanceof SignageError ? error.code : 'unexpected';
    const message = error instanceof Error ? error.message : String(error);
    const known = this.#failures.get(code) ?? { code, count: 0, message };
    this.#failures.set(code, { ...known, count: known.count + 1 });
    this.#changed?.(this.view());
  }

  view(): Tally {
    const failures = [...this.#failures.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
    return { ...this.#counts, failures };
  }
}
