import { type Clock, minuteMs, type Random, secondMs } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import type { MirrorPending } from '../../domain/records/rows.ts';
import { CopyQueue } from './queue.ts';

/** Copies that are made at the same time. */
const width = 8;
/** The first wait after a failure; it doubles up to the longest, and is shortened at random by up to half. */
const firstDelayMs = secondMs;
const longestDelayMs = minuteMs;

export interface CopyWorkerOptions {
  /** Makes the copy of one screen; throws when it cannot. */
  copy(pending: MirrorPending): Promise<void>;
  clock: Clock;
  random: Random;
  log: LogSink;
}

/**
 * Works through a queue of screens, a few at a time, each by itself: one that fails holds up no other, and is tried again after a while. While all of them
 * fail, a single one is tried now and then.
 */
export class CopyWorker {
  readonly queue = new CopyQueue();
  readonly #options: CopyWorkerOptions;
  readonly #underWay = new Set<Promise<void>>();
  #failures = 0;
  /** Screens that failed since the last success. */
  #inRow = 0;
  #retries = 0;
  #stopped = false;
  #cancelRetry: (() => void) | undefined;

  constructor(options: CopyWorkerOptions) {
    this.#options = options;
  }

  /** Tries that failed. */
  get failures(): number {
    return this.#failures;
  }

  add(pending: readonly MirrorPending[]): void {
    for (const one of pending) this.queue.add(one);
    this.#begin();
  }

  /** Finishes what is under way, and begins nothing more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry?.();
    await Promise.all(this.#underWay);
  }

  get #isDown(): boolean {
    return this.#inRow >= width;
  }

  #begin(): void {
    while (!this.#stopped && this.queue.underWay < width && !(this.#isDown && this.#cancelRetry)) {
      const next = this.queue.take();
      if (!next) return;
      const work = this.#copy(next);
      this.#underWay.add(work);
      work.then(() => this.#underWay.delete(work));
      if (this.#isDown) return;
    }
  }

  async #copy(pending: MirrorPending): Promise<void> {
    try {
      await this.#options.copy(pending);
      this.#succeeded(pending);
    } catch (error) {
      this.#failed(pending, error);
    }
    this.#begin();
  }

  #succeeded(pending: MirrorPending): void {
    this.queue.succeeded(pending);
    if (this.#isDown) this.#forgive();
    this.#inRow = 0;
    if (this.#retries === 0 || this.queue.isTroubled) return;
    this.#retries = 0;
    this.#options.log.info({}, 'All playlists are mirrored to the object store again.');
  }

  #failed(pending: MirrorPending, error: unknown): void {
    const { clock, log } = this.#options;
    this.#failures++;
    if (!this.queue.isTroubled)
      log.warn(
        { err: error },
        'A playlist could not be mirrored to the object store: it is tried again.',
      );
    if (this.queue.failed(pending)) this.#inRow++;
    if (this.#stopped) return;
    this.#cancelRetry ??= clock.after(this.#delayMs(), () => {
      this.#retries++;
      this.#forgive();
      this.#begin();
    });
  }

  #forgive(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.queue.forgive();
  }

  #delayMs(): number {
    const step = Math.min(firstDelayMs * 2 ** this.#retries, longestDelayMs);
    return step - ((this.#options.random(1)[0] ?? 0) / 256) * (step / 2);
  }
}
