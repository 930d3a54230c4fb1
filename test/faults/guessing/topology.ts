import type { Clock } from '../../../src/domain/clock.ts';
import { hasCode, type SignageError } from '../../../src/domain/error.ts';
import type { AuditEntry } from '../../../src/domain/records/audit.ts';
import {
  type GuessRateLimit,
  makeGuessRateLimit,
} from '../../../src/service/guesses/rate-limit.ts';
import {
  makeTrustedSources,
  type TrustedSources,
} from '../../../src/service/guesses/trusted-sources.ts';
import { MemoryGuessCounters } from '../../../src/store/json/guess-counters.ts';
import type {
  GuessCounterChange,
  GuessCountersOfEach,
  Store,
  Tx,
} from '../../../src/store/store.ts';

export type UpdateCounters = Store['updateGuessCounters'];

/** Wrappers for a defect, created for each start of an instance. */
export interface TopologyDefect {
  attempts?: (attempts: UpdateCounters, at: Site) => UpdateCounters;
  limit?: (limit: GuessRateLimit, at: Site) => GuessRateLimit;
}

interface Site {
  /** The clocks of the instance and of the store. */
  own: Clock;
  store: Clock;
  /** Separate counters of this instance. */
  separate(): UpdateCounters;
  /** The counters of the store, without a defect. */
  shared: UpdateCounters;
}

export interface Instance {
  trust: TrustedSources;
  limit: GuessRateLimit;
}

/** Verdict on a registration: it passes, or is refused for so many seconds. */
export type Verdict = 'passes' | number;

const lifetime = 15 * 60_000;
const start = Date.UTC(2026, 10, 20, 12);

/** Instances of the service reduced to the rate limit, trusted sources and shared counters. */
export class Topology {
  nowMs = start;
  readonly audit: AuditEntry[] = [];
  readonly #skewsMs: readonly number[];
  readonly #defect: TopologyDefect;
  readonly #store: Clock = { now: () => this.nowMs, after: () => () => {} };
  readonly #shared: UpdateCounters;
  readonly #instances: Instance[];
  #dry = false;
  /** The counters after the last change, or as it would have left them. */
  kept: GuessCountersOfEach = [];

  constructor(skewsMs: readonly number[], defect: TopologyDefect = {}) {
    this.#skewsMs = skewsMs;
    this.#defect = defect;
    this.#shared = this.#remembering();
    this.#instances = skewsMs.map((_, by) => this.#start(by));
  }

  instance(by: number): Instance {
    return this.#instances[by % this.#instances.length] as Instance;
  }

  /** Restarts an instance, which loses its memory. */
  restart(by: number): void {
    const place = by % this.#instances.length;
    this.#instances[place] = this.#start(place);
  }

  async judge(by: number, address: string, owner: string | undefined): Promise<Verdict> {
    try {
      await this.instance(by).limit.judge({ address, requestId: null }, owner);
      return 'passes';
    } catch (error) {
      if (!hasCode(error, 'too_many_attempts')) throw error;
      return (error as SignageError).retryAfterSeconds as number;
    }
  }

  /** Judges without a change. */
  async wouldJudge(by: number, address: string, owner: string | undefined): Promise<Verdict> {
    this.#dry = true;
    try {
      return await this.judge(by, address, owner);
    } finally {
      this.#dry = false;
    }
  }

  #remembering(): UpdateCounters {
    const memory = new MemoryGuessCounters(() => this.nowMs);
    return async <T>(sources: readonly string[], change: GuessCounterChange<T>): Promise<T> =>
      memory.change(sources, (known, nowMs) => {
        const changed = change(known, nowMs);
        this.kept = changed.attempts;
        return this.#dry ? { attempts: known, result: changed.result } : changed;
      });
  }

  #start(by: number): Instance {
    const own: Clock = {
      now: () => this.nowMs + (this.#skewsMs[by] as number),
      after: () => () => {},
    };
    const site: Site = {
      own,
      store: this.#store,
      separate: () => this.#remembering(),
      shared: this.#shared,
    };
    const attempts = this.#defect.attempts?.(this.#shared, site) ?? this.#shared;
    const trust = makeTrustedSources({ updateGuessCounters: attempts }, own);
    const write = (change: (tx: Tx) => Promise<unknown>) =>
      change({
        now: this.nowMs,
        audit: async (entry: AuditEntry) => void (this.#dry || this.audit.push(entry)),
        // The notice of a lock-out.
        put: async () => {},
      } as unknown as Tx);
    const deps = {
      store: { updateGuessCounters: attempts, write } as Store,
      clock: own,
      random: () => new Uint8Array(16),
      newId: () => 'an id',
    };
    const limit = makeGuessRateLimit(deps, trust, { codeTtlMs: lifetime });
    return { trust, limit: this.#defect.limit?.(limit, site) ?? limit };
  }
}
