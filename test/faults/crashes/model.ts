/** A request to a store and its outcome, with the disk steps at its times. */
interface Entry {
  number: number;
  begun: number;
  acknowledged: number;
  refused: number;
  /** The store's time in epoch milliseconds. */
  at: number;
}

/** Ordered requests to a store: changes or batches. */
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

  /** Returns the numbers acknowledged by this step. */
  acknowledgedBy(step: number): number[] {
    return this.entries.filter((entry) => entry.acknowledged <= step).map(({ number }) => number);
  }

  /**
   * Returns all allowed contents after a crash: everything acknowledged, and a prefix of those
   * begun later. A refused request that was followed by an acknowledged one must be absent.
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

  /** Records what a start has shown. Later starts must show it, too. */
  shown(numbers: readonly number[], step: number): void {
    for (const entry of this.entries) {
      if (numbers.includes(entry.number)) entry.acknowledged = Math.min(entry.acknowledged, step);
      else if (entry.acknowledged === Number.POSITIVE_INFINITY)
        entry.begun = Number.POSITIVE_INFINITY;
    }
  }
}

/** The history of a run. */
export interface Run {
  changes: ExpectedState;
  batches: ExpectedState;
  /** Days before this time were purged, from that step on. */
  dropped: { step: number; beforeMs: number }[];
  /** The store's time from that step on. */
  times: { step: number; nowMs: number }[];
  /** The steps at which a process was started. */
  starts: number[];
  /** The secret, known after the first start. */
  secret: { step: number; hex: string } | undefined;
  /** Violations found during the run. */
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

/** Returns the run with all outcomes unknown, as for contents after an earlier crash. */
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
