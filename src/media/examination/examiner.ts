import { hasCode, SignageError } from '../../domain/error.ts';
import type { MediaType } from '../../domain/media/media-types.ts';
import { FairQueue, type WaitLimits } from '../../domain/turns/fair-queue.ts';
import { ExaminingThread, packagedProgram } from './examining-thread.ts';
import { type ForeignFile, headBytes, type Verdict } from './verdict.ts';

/** A thread without work holds 20 MB. */
const idleMs = 30_000;

interface ExamineOptions {
  /** Whose file it is. Owners take turns. */
  owner?: string;
  /** Rejects with `interrupted`. */
  signal?: AbortSignal;
}

const busy = () =>
  new SignageError('unavailable', 'Too many files are being examined. Send this one again later.', {
    retryAfterSeconds: 5,
  });

/**
 * Examines files of strangers in a thread of its own, whose time and memory are limited, so that no
 * file can stop the process. The thread starts with the first file.
 */
export class Examiner {
  readonly #thread: ExaminingThread;
  /** The files, in turns of their owners. */
  readonly #files = new FairQueue({ total: 1, perGroup: 1 });
  readonly #limits: WaitLimits;
  #idle: NodeJS.Timeout | undefined;

  /**
   * @param limits of the files that wait for others
   * @param program of the thread. Default: that of the package.
   */
  constructor(limits: WaitLimits = {}, program = packagedProgram) {
    this.#limits = limits;
    this.#thread = new ExaminingThread(program);
  }

  /**
   * Examines a file. What takes too much time or memory is refused, never accepted. Throws
   * `unavailable` if too many files wait, or if the thread does not run, and `interrupted`.
   */
  async examine(file: ForeignFile, { owner = '', signal }: ExamineOptions = {}): Promise<Verdict> {
    const head = file.head.subarray(0, headBytes);
    const isWhole = file.isWhole && head.length === file.head.length;
    try {
      const leave = await this.#files.enter(owner, { ...this.#limits, signal, busy });
      try {
        clearTimeout(this.#idle);
        return await this.#thread.examine({ ...file, head, isWhole }, signal);
      } finally {
        leave();
        this.#stopLater();
      }
    } catch (cause) {
      if (hasCode(cause, 'unavailable')) throw cause;
      if (signal?.aborted)
        throw new SignageError('interrupted', 'Interrupted while a file was examined.', { cause });
      throw new SignageError(
        'unavailable',
        'The thread that examines files does not run. Retry later, or tell the operator.',
        { cause, retryAfterSeconds: 5 },
      );
    }
  }

  /** The next file keeps the thread. */
  #stopLater(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.#thread.stop(), idleMs);
    this.#idle.unref();
  }

  /** Ends the thread. Files that wait get `unavailable`. */
  async close(): Promise<void> {
    const ended = this.#files.clear(new Error('The examiner was closed.'));
    await this.#thread.stop();
    await ended;
    clearTimeout(this.#idle);
  }
}

/** Returns the type of an examined file. Throws `media_not_accepted`, with its refusal. */
export function acceptedType({ type, refusal }: Verdict): MediaType {
  if (type === undefined) throw new SignageError('media_not_accepted', String(refusal));
  return type;
}
