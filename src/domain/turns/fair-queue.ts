type QueueJob = () => Promise<void>;

interface WaitingJob {
  job: QueueJob;
  /** Called if the queue is cleared. */
  refuse(error: unknown): void;
}

/** How a caller of `enter` waits. By default, any number may wait for any time. */
export interface WaitLimits {
  /** How many may wait, of the group and of all groups together. */
  waitingOfGroup?: number;
  waiting?: number;
  /** How long the caller may wait, in milliseconds. */
  waitMs?: number;
}

interface EnterOptions extends WaitLimits {
  /** Ends the wait, with its reason. */
  signal?: AbortSignal | undefined;
  /** Makes the error that is thrown at a limit. */
  busy(): Error;
}

/**
 * Runs jobs of groups, such as tenants or addresses, a limited number at a time. The groups take
 * turns, and each has at most `perGroup` running jobs, so that many slow jobs of one group never
 * hold up another group.
 */
export class FairQueue {
  /** The groups in the order of their next turns. None of the lists is empty. */
  #waiting = new Map<string, WaitingJob[]>();
  #waitingCount = 0;
  #runningOf = new Map<string, number>();
  #running = new Set<Promise<void>>();
  readonly #limits: { total: number; perGroup: number };

  constructor(limits: { total: number; perGroup: number }) {
    this.#limits = limits;
  }

  /** Adds a job, which must not reject. */
  add(group: string, job: QueueJob): void {
    this.#add(group, { job, refuse: () => {} });
  }

  /**
   * Waits for a place among the running jobs. Returns a function that frees it, which may be called
   * again. A caller for whom a place is free never waits.
   */
  enter(group: string, { signal, busy, ...limits }: EnterOptions): Promise<() => void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      let stopWaiting = () => {};
      const entry: WaitingJob = {
        job: () =>
          new Promise((leave) => {
            stopWaiting();
            resolve(leave);
          }),
        refuse: (error) => {
          stopWaiting();
          reject(error);
        },
      };
      if (!this.#add(group, entry)) return;
      const { waitingOfGroup = Infinity, waiting = Infinity, waitMs } = limits;
      const giveUp = (error: unknown) => {
        this.#remove(group, entry);
        entry.refuse(error);
      };
      const length = this.#waiting.get(group)?.length ?? 0;
      if (length > waitingOfGroup || this.#waitingCount > waiting) return giveUp(busy());
      const abort = () => giveUp(signal?.reason);
      const timer = waitMs !== undefined && setTimeout(() => giveUp(busy()), waitMs);
      signal?.addEventListener('abort', abort);
      stopWaiting = () => {
        if (timer) clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
    });
  }

  /** Forgets the waiting jobs, refuses who waits to enter, and waits for the running jobs. */
  async clear(error?: unknown): Promise<void> {
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#waitingCount = 0;
    for (const { refuse } of waiting) refuse(error);
    await Promise.all(this.#running);
  }

  #add(group: string, entry: WaitingJob): boolean {
    const waiting = this.#waiting.get(group);
    if (waiting) waiting.push(entry);
    else this.#waiting.set(group, [entry]);
    this.#waitingCount++;
    this.#start();
    return this.#waiting.get(group)?.at(-1) === entry;
  }

  #remove(group: string, entry: WaitingJob): void {
    const waiting = this.#waiting.get(group) ?? [];
    const at = waiting.indexOf(entry);
    if (at < 0) return;
    waiting.splice(at, 1);
    this.#waitingCount--;
    if (waiting.length === 0) this.#waiting.delete(group);
  }

  #start(): void {
    while (this.#running.size < this.#limits.total) {
      const next = this.#nextGroup();
      if (!next) return;
      this.#run(...next);
    }
  }

  /** Returns the jobs of the group that has waited longest, of those below their limit. */
  #nextGroup(): [group: string, waiting: WaitingJob[]] | undefined {
    for (const waiting of this.#waiting)
      if (this.#runningFor(waiting[0]) < this.#limits.perGroup) return waiting;
    return undefined;
  }

  #runningFor(group: string): number {
    return this.#runningOf.get(group) ?? 0;
  }

  #run(group: string, waiting: WaitingJob[]): void {
    const { job } = waiting.shift() as WaitingJob;
    this.#waitingCount--;
    // Inserted anew, the group moves to the end of the line.
    this.#waiting.delete(group);
    if (waiting.length > 0) this.#waiting.set(group, waiting);
    this.#runningOf.set(group, this.#runningFor(group) + 1);
    const running = job().finally(() => {
      this.#running.delete(running);
      const left = this.#runningFor(group) - 1;
      if (left > 0) this.#runningOf.set(group, left);
      else this.#runningOf.delete(group);
      this.#start();
    });
    this.#running.add(running);
  }
}
