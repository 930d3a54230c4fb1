import { minuteMs } from '../../../domain/clock.ts';
import type { PartContext } from '../disk/parts.ts';
import type { Journal } from '../journal/journal.ts';
import type { Checkpoint } from './checkpoint.ts';

/**
 * Growth of the journal in bytes that triggers a checkpoint: a quarter of the size of the
 * documents, within these limits.
 */
const minGrowthBytes = 8 * 1024 * 1024;
const maxGrowthBytes = 64 * 1024 * 1024;
/**
 * Further growth in bytes after which changes wait for the running checkpoint. Otherwise changes of
 * hundreds of screens starve it: each of its thousands of steps waits for a turn of the event loop,
 * and the journal grows faster than a start can replay it.
 */
const growthMeanwhileBytes = 32 * 1024 * 1024;

/**
 * Runs checkpoints in the background, one at a time: every minute, and when the journal has grown.
 * A failed checkpoint loses no data and is retried.
 */
export class CheckpointSchedule {
  readonly #context: PartContext;
  readonly #checkpoint: Checkpoint;
  readonly #journal: Pick<Journal, 'grownBytes' | 'replayBytes'>;
  /** The running checkpoint, if any. Resolves to whether it succeeded. */
  #running: Promise<boolean> | undefined;
  #growthBytes = minGrowthBytes;
  #stopTimer: () => void = () => {};
  #stopped = false;

  constructor(
    context: PartContext,
    checkpoint: Checkpoint,
    journal: Pick<Journal, 'grownBytes' | 'replayBytes'>,
  ) {
    this.#context = context;
    this.#checkpoint = checkpoint;
    this.#journal = journal;
  }

  start(): void {
    this.#growthBytes = Math.min(
      Math.max(minGrowthBytes, this.#checkpoint.documentBytes / 4),
      maxGrowthBytes,
    );
    this.#stopTimer = this.#context.clock.after(minuteMs, () => this.begin());
  }

  /** Call when the journal has grown. */
  grown(): void {
    if (this.#journal.grownBytes >= this.#growthBytes) this.begin();
  }

  /** Call before each change. Bounds the journal, and so the time of a start after a crash. */
  async admit(): Promise<void> {
    if (this.#journal.replayBytes >= this.#growthBytes + growthMeanwhileBytes) await this.#running;
  }

  /** Starts a checkpoint unless one is running. */
  begin(): void {
    if (this.#stopped || this.#running) return;
    this.#stopTimer();
    this.#running = this.#attempt();
  }

  /** Runs a checkpoint that starts after this call. Returns whether it succeeded. */
  async now(): Promise<boolean> {
    while (this.#running) await this.#running;
    this.begin();
    return (await this.#running) ?? false;
  }

  /** Waits for a running checkpoint, then makes the last one. */
  async stop(clean: boolean): Promise<void> {
    this.#stopped = true;
    this.#stopTimer();
    await this.#running;
    await this.#checkpoint.run(clean);
  }

  async #attempt(): Promise<boolean> {
    let succeeded = true;
    try {
      await this.#checkpoint.run(false);
    } catch (error) {
      succeeded = false;
      this.#context.warn('A checkpoint failed and will be retried', error);
    }
    this.#running = undefined;
    if (!this.#stopped) this.start();
    return succeeded;
  }
}
