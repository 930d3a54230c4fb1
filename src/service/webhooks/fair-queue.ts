/**
 * Runs jobs of tenants, a limited number at a time. The tenants take turns, and each has at most
 * `perTenant` running jobs, so that many slow jobs of one tenant never hold up another tenant.
 */
export class FairQueue {
  #waiting = new Map<string, (() => Promise<void>)[]>();
  #runningOf = new Map<string, number>();
  #running = new Set<Promise<void>>();
  readonly #limits: { total: number; perTenant: number };

  constructor(limits: { total: number; perTenant: number }) {
    this.#limits = limits;
  }

  /** Adds a job, which must not reject. */
  add(tenantId: string, job: () => Promise<void>): void {
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
      const tenantId = this.#nextTenant();
      if (tenantId === undefined) return;
      this.#run(tenantId);
    }
  }

  /** Returns the tenant that has waited longest for its turn, of those below their limit. */
  #nextTenant(): string | undefined {
    for (const tenantId of this.#waiting.keys())
      if ((this.#runningOf.get(tenantId) ?? 0) < this.#limits.perTenant) return tenantId;
    return undefined;
  }

  #run(tenantId: string): void {
    const jobs = this.#waiting.get(tenantId) ?? [];
    const job = jobs.shift();
    // Inserted anew, the tenant moves to the end of the line.
    this.#waiting.delete(tenantId);
    if (jobs.length > 0) this.#waiting.set(tenantId, jobs);
    if (!job) return;
    this.#runningOf.set(tenantId, (this.#runningOf.get(tenantId) ?? 0) + 1);
    const running = job().finally(() => {
      this.#running.delete(running);
      const left = (this.#runningOf.get(tenantId) ?? 1) - 1;
      if (left > 0) this.#runningOf.set(tenantId, left);
      else this.#runningOf.delete(tenantId);
      this.#start();
    });
    this.#running.add(running);
  }
}
