import type { MirrorPending } from '../../domain/records/rows.ts';

/**
 * Queue of copies to update, each at most once. Failed entries are set aside until `retryFailed`.
 * An entry added while it is in flight is processed once more afterwards.
 */
export class MirrorQueue {
  readonly #waiting = new Map<string, MirrorPending>();
  readonly #failed = new Map<string, MirrorPending>();
  readonly #inFlight = new Map<string, MirrorPending>();
  /** Ids of entries that failed and have not succeeded since. */
  readonly #failing = new Set<string>();

  add(pending: MirrorPending): void {
    if (!this.#failed.has(pending.id)) this.#waiting.set(pending.id, pending);
  }

  /** Takes the next entry that has not failed and is not in flight. */
  take(): MirrorPending | undefined {
    for (const [id, pending] of this.#waiting) {
      if (this.#inFlight.has(id)) continue;
      this.#waiting.delete(id);
      this.#inFlight.set(id, pending);
      return pending;
    }
    return undefined;
  }

  succeeded({ id }: MirrorPending): void {
    this.#inFlight.delete(id);
    this.#failing.delete(id);
  }

  /** Returns whether this is the first failure since the entry last succeeded. */
  failed(pending: MirrorPending): boolean {
    const { id } = pending;
    this.#inFlight.delete(id);
    this.#waiting.delete(id);
    this.#failed.set(id, pending);
    const isFirst = !this.#failing.has(id);
    this.#failing.add(id);
    return isFirst;
  }

  /** Queues the failed entries again, after all others. */
  retryFailed(): void {
    for (const [id, pending] of this.#failed) this.#waiting.set(id, pending);
    this.#failed.clear();
  }

  get hasFailing(): boolean {
    return this.#failing.size > 0;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Number of unfinished entries. */
  get size(): number {
    const requeued = [...this.#inFlight.keys()].filter((id) => this.#waiting.has(id)).length;
    return this.#waiting.size + this.#failed.size + this.#inFlight.size - requeued;
  }

  /** Time at which the oldest unfinished entry was queued. */
  get oldestMs(): number | undefined {
    let oldest: number | undefined;
    for (const map of [this.#waiting, this.#failed, this.#inFlight]) {
      for (const { queuedAt } of map.values())
        if (oldest === undefined || queuedAt < oldest) oldest = queuedAt;
    }
    return oldest;
  }
}
