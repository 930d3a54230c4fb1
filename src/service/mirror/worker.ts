import { type Clock, minuteMs, type Random, secondMs } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import type { MirrorPending } from '../../domain/records/rows.ts';
import { MirrorQueue } from './queue.ts';

/** Limit of concurrent updates. */
const maxConcurrent = 8;
/** Exponential backoff after failures, from the minimum to the maximum, with up to 50 % jitter. */
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
 * Processes the queue with limited concurrency. A failing entry does not block others and is
 * retried with backoff. While all entries fail, a single one is retried at a time.
 */
export class MirrorWorker {
  readonly queue = new MirrorQueue();
  readonly #options: MirrorWorkerOptions;
  readonly #inFlight = new Set<Promise<void>>();
  #failures = 0;
  /** Entries that failed since the last success. */
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

  /** Finishes work in flight and starts nothing more. */
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
