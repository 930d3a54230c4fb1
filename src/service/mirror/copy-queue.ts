import { type Clock, minuteMs, type Random, secondMs } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';

/**
 * A copy that may differ from the store. The copy of a playlist has the id of the screen, and the
 * copy of a config has the id of the config.
 */
export interface QueuedCopy {
  id: string;
  tenantId: string;
  queuedAt: number;
}

/** Limit of concurrent updates. */
const maxConcurrent = 8;
/** Limits of the exponential backoff after failures. Jitter shortens each delay by up to 50 %. */
const minDelayMs = secondMs;
const maxDelayMs = minuteMs;

export interface CopyQueueOptions {
  /** Updates one copy. Throws on failure. */
  update(copy: QueuedCopy): Promise<void>;
  clock: Clock;
  random: Random;
  log: LogSink;
}

/**
 * Updates copies in the background, a few at a time. A copy that is queued again before its turn is
 * updated once. A failing copy delays no other, and is retried with backoff. If `maxConcurrent`
 * copies fail without a success in between, the object store counts as down: then one copy is tried
 * at a time.
 *
 * The queue is not stored. After a crash, the check of all copies finds what was in it.
 */
export class CopyQueue {
  readonly #options: CopyQueueOptions;
  readonly #waiting = new Map<string, QueuedCopy>();
  readonly #inFlight = new Map<string, QueuedCopy>();
  readonly #updates = new Set<Promise<void>>();
  /** Copies that wait for the next retry. */
  readonly #failed = new Map<string, QueuedCopy>();
  /** Ids of copies that have failed and not succeeded since. */
  readonly #failing = new Set<string>();
  /** Ids of copies that failed after the last success of any copy. */
  readonly #failedSinceSuccess = new Set<string>();
  #failures = 0;
  #retries = 0;
  #isStopped = false;
  #cancelRetry: (() => void) | undefined;

  constructor(options: CopyQueueOptions) {
    this.#options = options;
  }

  add(copies: readonly QueuedCopy[]): void {
    for (const copy of copies) {
      if (!this.#failed.has(copy.id) && !this.#waiting.has(copy.id))
        this.#waiting.set(copy.id, copy);
    }
    this.#startUpdates();
  }

  /** Whether the object store counts as down. */
  get isDown(): boolean {
    return this.#failedSinceSuccess.size >= maxConcurrent;
  }

  /** Number of failed attempts. */
  get failures(): number {
    return this.#failures;
  }

  get hasFailing(): boolean {
    return this.#failing.size > 0;
  }

  /** The earliest time at which each unfinished copy was queued, by its id. */
  queuedAt(): Map<string, number> {
    const times = new Map<string, number>();
    for (const copies of [this.#waiting, this.#failed, this.#inFlight])
      for (const { id, queuedAt } of copies.values())
        times.set(id, Math.min(queuedAt, times.get(id) ?? queuedAt));
    return times;
  }

  /** Resolves when no update is in flight, because all others wait for a retry. */
  async settled(): Promise<void> {
    while (this.#updates.size > 0) await Promise.all(this.#updates);
  }

  /** Finishes the updates in flight, and starts no more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRetry?.();
    await this.settled();
  }

  #startUpdates(): void {
    for (const [id, copy] of this.#waiting) {
      const isWaitingForRetry = this.isDown && this.#cancelRetry !== undefined;
      const isFull = this.#inFlight.size >= (this.isDown ? 1 : maxConcurrent);
      if (this.#isStopped || isFull || isWaitingForRetry) return;
      if (this.#inFlight.has(id)) continue;
      this.#waiting.delete(id);
      this.#inFlight.set(id, copy);
      const update = this.#update(copy).finally(() => this.#updates.delete(update));
      this.#updates.add(update);
    }
  }

  async #update(copy: QueuedCopy): Promise<void> {
    try {
      await this.#options.update(copy);
      this.#inFlight.delete(copy.id);
      this.#succeeded(copy);
    } catch (error) {
      this.#inFlight.delete(copy.id);
      this.#fail(copy, error);
    }
    this.#startUpdates();
  }

  #succeeded({ id }: QueuedCopy): void {
    this.#failing.delete(id);
    if (this.isDown) this.#requeueFailed();
    this.#failedSinceSuccess.clear();
    if (this.#retries === 0 || this.hasFailing) return;
    this.#retries = 0;
    this.#options.log.info({}, 'All playlists are mirrored to the object store again.');
  }

  #fail(copy: QueuedCopy, error: unknown): void {
    const { clock, log } = this.#options;
    this.#failures++;
    if (!this.hasFailing)
      log.warn(
        { err: error },
        'A playlist could not be mirrored to the object store; it is retried.',
      );
    this.#failing.add(copy.id);
    this.#failedSinceSuccess.add(copy.id);
    this.#waiting.delete(copy.id);
    this.#failed.set(copy.id, copy);
    if (this.#isStopped) return;
    this.#cancelRetry ??= clock.after(this.#delayMs(), () => {
      this.#retries++;
      this.#requeueFailed();
      this.#startUpdates();
    });
  }

  #requeueFailed(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    for (const [id, copy] of this.#failed) this.#waiting.set(id, copy);
    this.#failed.clear();
  }

  #delayMs(): number {
    const step = Math.min(minDelayMs * 2 ** this.#retries, maxDelayMs);
    return step - ((this.#options.random(1)[0] ?? 0) / 256) * (step / 2);
  }
}
