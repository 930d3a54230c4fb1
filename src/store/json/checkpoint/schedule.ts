import { minuteMs } from '../../../domain/clock.ts';
import type { PartContext } from '../parts.ts';
import type { Checkpoint } from './checkpoint.ts';

/** The journal's growth that calls for a checkpoint: a quarter of what the documents take, within these bounds. */
const leastGrowthBytes = 8 * 1024 * 1024;
const mostGrowthBytes = 64 * 1024 * 1024;

/** Has checkpoints made in the background, one at a time: when the journal has grown, and each minute. One that fails is tried again and loses nothing. */
export class CheckpointSchedule {
  readonly #context: PartContext;
  readonly #checkpoint: Checkpoint;
  readonly #journal: { readonly grownBytes: number };
  /** Answers whether it was made. */
  #running: Promise<boolean> | undefined;
  #growthBytes = leastGrowthBytes;
  #stopTimer: () => void = () => {};
  #stopped = false;

  constructor(
    context: PartContext,
    checkpoint: Checkpoint,
    journal: { readonly grownBytes: number },
  ) {
    this.#context = context;
    this.#checkpoint = checkpoint;
    this.#journal = journal;
  }

  start(): void {
    this.#growthBytes = Math.min(
      Math.max(leastGrowthBytes, this.#checkpoint.documentBytes / 4),
      mostGrowthBytes,
    );
    this.#stopTimer = this.#context.clock.after(minuteMs, () => this.begin());
  }

  /** The journal has grown. */
  grown(): void {
    if (this.#journal.grownBytes >= this.#growthBytes) this.begin();
  }

  /** Begins a checkpoint, unless one is under way. */
  begin(): void {
    if (this.#stopped || this.#running) return;
    this.#stopTimer();
    this.#running = this.#attempt();
  }

  /** Has a checkpoint made that begins from now on. Answers whether it was made. */
  async now(): Promise<boolean> {
    while (this.#running) await this.#running;
    this.begin();
    return (await this.#running) ?? false;
  }

  /** Waits for what is under way and makes the last checkpoint. */
  async stop(clean: boolean): Promise<void> {
    this.#stopped = true;
    this.#stopTimer();
    await this.#running;
    await this.#checkpoint.run(clean);
  }

  async #attempt(): Promise<boolean> {
    let isMade = true;
    try {
      await this.#checkpoint.run(false);
    } catch (error) {
      isMade = false;
      this.#context.warn('A checkpoint failed; it is tried again', error);
    }
    this.#running = undefined;
    if (!this.#stopped) this.start();
    return isMade;
  }
}
