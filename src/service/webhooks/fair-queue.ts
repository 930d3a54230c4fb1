type Job = () => Promise<void>;

/**
 * Runs jobs of tenants, a limited number at a time. The tenants take turns, and each has at most
 * `perTenant` running jobs, so that many slow jobs of one tenant never hold up another tenant.
 */
export class FairQueue {
  #waiting = new Map<string, Job[]>();
  #runningOf = new Map<string, number>();
  #running = new Set<Promise<void>>();
  readonly #limits: { total: number; perTenant: number };

  constructor(limits: { total: number; perTenant: number }) {
    this.#limits = limits;
  }

  /** Adds a job, which must not reject. */
  add(tenantId: string, job: Job): void {
    const jobs = this.#waiting.get(tenantId);
    if (jobs) jobs.push(job);
    else this.#waiting.set(tenantId, [job]);
    this.#start();
  }

  /** Forgets the waiting jobs, and waits for the running ones. */
  async clear(): Promise<void> {
    this.#waiting.clear();
    await Promise.all(this.#running);
  }

  #start(): void {
    while (this.#running.size < this.#limits.total) {
      const next = this.#nextTenant();
      if (!next) return;
      this.#run(...next);
    }
  }

  /** Returns the jobs of the tenant that has waited longest, of those below their limit. */
  #nextTenant(): [tenantId: string, jobs: Job[]] | undefined {
    for (const waiting of this.#waiting)
      if (this.#runningFor(waiting[0]) < this.#limits.perTenant) return waiting;
    return undefined;
  }

  #runningFor(tenantId: string): number {
    return this.#runningOf.get(tenantId) ?? 0;
  }

  #run(tenantId: string, [job, ...others]: Job[]): void {
    // Inserted anew, the tenant moves to the end of the line.
    this.#waiting.delete(tenantId);
    if (others.length > 0) this.#waiting.set(tenantId, others);
    this.#runningOf.set(tenantId, this.#runningFor(tenantId) + 1);
    const running = (job as Job)().finally(() => {
      this.#running.delete(running);
      const left = this.#runningFor(tenantId) - 1;
      if (left > 0) this.#runningOf.set(tenantId, left);
      else this.#runningOf.delete(tenantId);
      this.#start();
    });
    this.#running.add(running);
  }
}
