import { type Clock, minuteMs, type Random, secondMs } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import type { MirrorPending } from '../../domain/records/rows.ts';

/**
 * Queue of copies to update. Each copy waits at most once. Failed entries are set aside until
 * `retryFailed`. If an entry is added while it is in flight, it is processed once more afterwards.
 */
class MirrorQueue {
  readonly #waiting = new Map<string, MirrorPending>();
  readonly #failed = new Map<string, MirrorPending>();
  readonly #inFlight = new Map<string, MirrorPending>();
  /** Ids of entries that have failed and not succeeded since. */
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

  /** Records a failure. Returns whether it is the first failure since the entry last succeeded. */
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

/** Limit of concurrent updates. */
const maxConcurrent = 8;
/** Limits of the exponential backoff after failures. Jitter shortens each delay by up to 50 %. */
const minDelayMs = secondMs;
const maxDelayMs = minuteMs;

export interface MirrorWorkerOptions {
  /** Updates the copy of one entry. Throws on failure. */
  sync(pending: MirrorPending): Promise<void>;
  clock: Clock;
  random: Random;
  log: LogSink;
}

/**
 * Processes the queue with limited concurrency. A failing entry does not block others, and is
 * retried with backoff. If `maxConcurrent` entries begin to fail without a success in between, the
 * object store counts as down. The worker then retries one entry at a time.
 */
export class MirrorWorker {
  readonly queue = new MirrorQueue();
  readonly #options: MirrorWorkerOptions;
  readonly #inFlight = new Set<Promise<void>>();
  #failures = 0;
  /** Number of entries that began to fail after the last success of any entry. */
  #failedSinceSuccess = 0;
  #retries = 0;
  #stopped = false;
  #cancelRetry: (() => void) | undefined;

  constructor(options: MirrorWorkerOptions) {
    this.#options = options;
  }

  /** Number of failed attempts. */
  get failures(): number {
    return this.#failures;
  }

  add(pending: readonly MirrorPending[]): void {
    for (const one of pending) this.queue.add(one);
    this.#startWork();
  }

  /** Finishes updates in flight and starts no more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry?.();
    await Promise.all(this.#inFlight);
  }

  get #isDown(): boolean {
    return this.#failedSinceSuccess >= maxConcurrent;
  }

  #startWork(): void {
    while (
      !this.#stopped &&
      this.queue.inFlight < maxConcurrent &&
      !(this.#isDown && this.#cancelRetry)
    ) {
      const next = this.queue.take();
      if (!next) return;
      const work = this.#process(next);
      this.#inFlight.add(work);
      work.then(() => this.#inFlight.delete(work));
      if (this.#isDown) return;
    }
  }

  async #process(pending: MirrorPending): Promise<void> {
    try {
      await this.#options.sync(pending);
      this.#succeeded(pending);
    } catch (error) {
      this.#failed(pending, error);
    }
    this.#startWork();
  }

  #succeeded(pending: MirrorPending): void {
    this.queue.succeeded(pending);
    if (this.#isDown) this.#retryFailed();
    this.#failedSinceSuccess = 0;
    if (this.#retries === 0 || this.queue.hasFailing) return;
    this.#retries = 0;
    this.#options.log.info({}, 'All playlists are mirrored to the object store again.');
  }

  #failed(pending: MirrorPending, error: unknown): void {
    const { clock, log } = this.#options;
    this.#failures++;
    if (!this.queue.hasFailing)
      log.warn(
        { err: error },
        'A playlist could not be mirrored to the object store; it is retried.',
      );
    if (this.queue.failed(pending)) this.#failedSinceSuccess++;
    if (this.#stopped) return;
    this.#cancelRetry ??= clock.after(this.#delayMs(), () => {
      this.#retries++;
      this.#retryFailed();
      this.#startWork();
    });
  }

  #retryFailed(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.queue.retryFailed();
  }

  #delayMs(): number {
    const step = Math.min(minDelayMs * 2 ** this.#retries, maxDelayMs);
    return step - ((this.#options.random(1)[0] ?? 0) / 256) * (step / 2);
  }
}
