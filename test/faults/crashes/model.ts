/** One thing that was asked of a store, and what became of it, by the disk's steps at the time. */
interface Entry {
  number: number;
  begun: number;
  acknowledged: number;
  refused: number;
  /** The store's time then, in milliseconds. */
  at: number;
}

/** What was asked of a store in one order, change after change or batch after batch. */
export class ExpectedState {
  readonly entries: Entry[] = [];

  begin(number: number, step: number, at: number): Entry {
    const entry = {
      number,
      begun: step,
      acknowledged: Number.POSITIVE_INFINITY,
      refused: Number.POSITIVE_INFINITY,
      at,
    };
    this.entries.push(entry);
    return entry;
  }

  /** Numbers of what had been acknowledged by then. */
  acknowledgedBy(step: number): number[] {
    return this.entries.filter((entry) => entry.acknowledged <= step).map(({ number }) => number);
  }

  /**
   * All that may be there after a crash: what had been acknowledged, and of what was begun after
   * the last of that some more, in its order. What was refused
   * and had others acknowledged after it is gone for good.
   */
  possibleAt(step: number): number[][] {
    const sure = this.acknowledgedBy(step);
    const last = this.entries.findLastIndex((entry) => entry.acknowledged <= step);
    const open = this.entries.slice(last + 1).filter(({ begun }) => begun <= step);
    return Array.from({ length: open.length + 1 }, (_, count) => [
      ...sure,
      ...open.slice(0, count).map(({ number }) => number),
    ]);
  }

  timeOf(number: number): number {
    return this.entries.find((entry) => entry.number === number)?.at ?? 0;
  }

  /** What a start has shown must not be taken back. */
  shown(numbers: readonly number[], step: number): void {
    for (const entry of this.entries) {
      if (numbers.includes(entry.number)) entry.acknowledged = Math.min(entry.acknowledged, step);
      else if (entry.acknowledged === Number.POSITIVE_INFINITY)
        entry.begun = Number.POSITIVE_INFINITY;
    }
  }
}

/** All that is known of a run: what it asked for, and when. */
export interface Run {
  changes: ExpectedState;
  batches: ExpectedState;
  /** Days before this time were given up, from that step on. */
  dropped: { step: number; beforeMs: number }[];
  /** The store's time from that step on. */
  times: { step: number; nowMs: number }[];
  /** The steps at which a process was started. */
  starts: number[];
  /** The secret, once a first start is over. */
  secret: { step: number; hex: string } | undefined;
  /** What was found wrong while it ran. */
  wrong: string[];
}

export function newRun(): Run {
  return {
    changes: new ExpectedState(),
    batches: new ExpectedState(),
    dropped: [],
    times: [],
    starts: [],
    secret: undefined,
    wrong: [],
  };
}

/** The same of which nothing is sure but the order: what an earlier crash may have left. */
export function unsure(run: Run): Run {
  const all = { ...newRun(), dropped: run.dropped, secret: run.secret, times: run.times };
  for (const one of ['changes', 'batches'] as const) {
    for (const { number, acknowledged, at } of run[one].entries)
      if (acknowledged !== Number.POSITIVE_INFINITY) all[one].begin(number, 0, at);
  }
  return all;
}

export function timeAt({ times }: Run, step: number): number {
  return times.findLast((one) => one.step <= step)?.nowMs ?? times[0]?.nowMs ?? 0;
}
