import { type Clock, minuteMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';

/** Maximum number of dumps of one store that are read at a time. */
const maxOpen = 4;
const retryAfterSeconds = 60;
/** A dump fails if its reader reads nothing for this long, because it keeps old data. */
const readerTimeoutMs = 5 * minuteMs;

interface DumpStreamOptions {
  clock: Clock;
  warn(message: string, cause?: unknown): void;
  /** Allows the store to delete old data again. */
  release(): Promise<void>;
}

/** A dump that was begun, and what to do with it. */
interface BegunDump extends DumpStreamOptions {
  chunks: AsyncGenerator<Uint8Array, unknown>;
}

/** The dumps of a store that are read at the moment. */
export class OpenDumps {
  readonly #streams = new Set<DumpStream>();
  #count = 0;

  /**
   * Begins a dump, and returns it as a stream when its first bytes are there. Throws `unavailable`
   * if too many are read, or if these bytes cannot be read.
   */
  async begin(begin: () => BegunDump | Promise<BegunDump>): Promise<ReadableStream<Uint8Array>> {
    if (this.#count >= maxOpen)
      throw new SignageError(
        'unavailable',
        `${maxOpen} backups are being read already. Try again when one has ended.`,
        { retryAfterSeconds },
      );
    this.#count++;
    let dump: DumpStream;
    try {
      const { chunks, ...options } = await begin();
      dump = new DumpStream(chunks, options);
    } catch (error) {
      this.#count--;
      throw error;
    }
    this.#streams.add(dump);
    void dump.over.then(() => {
      this.#streams.delete(dump);
      this.#count--;
    });
    await dump.begun;
    return dump.stream;
  }

  /** Aborts all dumps, because the store closes. */
  async cancel(): Promise<void> {
    const reason = new SignageError(
      'unavailable',
      'The store was closed before the backup was complete.',
    );
    for (const dump of this.#streams) await dump.cancel(reason);
  }
}

/** A dump as a stream, which is made as it is read. */
class DumpStream {
  readonly stream: ReadableStream<Uint8Array>;
  /** Resolves when the first bytes are in the stream. Rejects if they could not be read. */
  readonly begun: Promise<void>;
  /** Resolves when the stream has ended, failed or was cancelled, and `release` is done. */
  readonly over: Promise<void>;
  readonly #chunks: AsyncGenerator<Uint8Array, unknown>;
  readonly #options: DumpStreamOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #cancelTimer = () => {};
  #resolve = () => {};
  #begin: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  #isOver = false;

  constructor(chunks: AsyncGenerator<Uint8Array, unknown>, options: DumpStreamOptions) {
    this.#chunks = chunks;
    this.#options = options;
    this.over = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.begun = new Promise((resolve, reject) => {
      this.#begin = { resolve, reject };
    });
    this.stream = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
        this.#restartTimeout();
      },
      pull: (controller) => this.#pull(controller),
      cancel: () => this.#end(),
    });
  }

  /** Aborts the stream. Its reader gets `reason` as the error. */
  async cancel(reason: Error): Promise<void> {
    if (!this.#isOver) this.#controller?.error(reason);
    this.#begin?.reject(reason);
    await this.#end();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#restartTimeout();
    try {
      const { done, value } = await this.#chunks.next();
      if (this.#isOver) return;
      this.#begin?.resolve();
      if (!done) return controller.enqueue(value);
      controller.close();
    } catch (error) {
      if (!this.#isOver) controller.error(error);
      this.#begin?.reject(error instanceof SignageError ? error : unreadable(error));
    }
    await this.#end();
  }

  #restartTimeout(): void {
    const { clock, warn } = this.#options;
    this.#cancelTimer();
    this.#cancelTimer = clock.after(readerTimeoutMs, () => {
      const message = `The backup was aborted: its reader took nothing for ${readerTimeoutMs / minuteMs} minutes.`;
      warn(message);
      void this.cancel(new SignageError('unavailable', message));
    });
  }

  async #end(): Promise<void> {
    if (this.#isOver) return this.over;
    this.#isOver = true;
    this.#cancelTimer();
    try {
      await this.#chunks.return(undefined);
      await this.#options.release();
    } catch (error) {
      this.#options.warn('The data kept for a backup could not be released', error);
    }
    this.#resolve();
  }
}

function unreadable(cause: unknown): SignageError {
  const message = 'The data could not be read, so there is no backup: the log has the reason.';
  return new SignageError('unavailable', message, { cause, retryAfterSeconds });
}
