import type { Worker } from 'node:worker_threads';
import { readAsset } from '../../package/assets.ts';
import {
  type ForeignFile,
  type FromWorker,
  refusedFile,
  type ToWorker,
  type Verdict,
} from './verdict.ts';

/** Healthy files take a few milliseconds. */
const limitMs = 2000;
/** A busy machine may take long to start a thread. */
const startLimitMs = 30_000;
/** Pictures are read whole, up to 32 MiB, and a little of videos. */
const maxReadBytes = 34 * 1024 * 1024;
const maxReads = 4096;
/** With the parts of the file that it has read, a thread stays below 128 MiB. */
const resourceLimits = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 8 };

const tooCostly = () =>
  refusedFile(
    'a file that takes too much to examine',
    'This file takes too much time or memory to examine, and TVs may fail at it, too. Export it again with another program.',
  );

/** The text of the program, because the executable has no files. ASCII, see bundle-worker.js. */
export const packagedProgram = (): string =>
  readAsset('examination', 'worker.cjs').toString('latin1');

async function startWorker(program: string): Promise<Worker> {
  const { Worker } = await import('node:worker_threads');
  const worker = new Worker(program, {
    eval: true,
    // Neither variables nor options of the process are of use there.
    argv: [],
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
}

/** Reads parts of a file, up to the limits. A part that cannot be read is missing. */
function makeReader({ source }: ForeignFile) {
  let reads = 0;
  let bytes = 0;
  return async (start: number, end: number): Promise<Uint8Array | undefined> => {
    reads += 1;
    bytes += end - start;
    if (!source || reads > maxReads || bytes > maxReadBytes) return undefined;
    return source.read(start, end).catch(() => undefined);
  };
}

/** Asks a worker for its verdict on one file. */
class Examination {
  readonly verdict: Promise<Verdict>;
  readonly #worker: Worker;
  readonly #read: ReturnType<typeof makeReader>;
  #resolve: (verdict: Verdict) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  /** What is left of the limit. It does not count while the worker waits for parts of the file. */
  #leftMs = 0;
  #since = 0;
  #pendingReads = 0;
  #isOver = false;

  constructor(worker: Worker, file: ForeignFile, firstLimitMs: number) {
    this.#worker = worker;
    this.#read = makeReader(file);
    this.verdict = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    worker.on('message', this.#onMessage).on('error', this.abort).on('exit', this.#onExit);
    this.#leftMs = firstLimitMs;
    this.#countTime();
    const { isWhole, source } = file;
    const head = new Uint8Array(file.head);
    this.#post({ kind: 'examine', head, isWhole, size: source?.size }, head);
  }

  readonly abort = (error: unknown): void => this.#reject(error);

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#worker.off('message', this.#onMessage);
    this.#worker.off('error', this.abort).off('exit', this.#onExit);
  }

  readonly #onExit = () => this.#reject(new Error('The examining thread has ended.'));

  readonly #onMessage = (message: FromWorker): void => {
    if (message.kind === 'read') {
      void this.#answer(message.id, message.start, message.end);
    } else if (message.kind === 'verdict') {
      this.#resolve(message.verdict);
    } else {
      this.#leftMs = limitMs;
      this.#countTime();
    }
  };

  async #answer(id: number, start: number, end: number): Promise<void> {
    if (this.#pendingReads++ === 0) this.#holdTime();
    const found = await this.#read(start, end);
    if (this.#isOver) return;
    const bytes = found && new Uint8Array(found);
    this.#post({ kind: 'bytes', id, bytes }, bytes);
    if (--this.#pendingReads === 0) this.#countTime();
  }

  #countTime(): void {
    clearTimeout(this.#timer);
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#reject(new TooCostly()), Math.max(0, this.#leftMs));
  }

  #holdTime(): void {
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#since;
  }

  #post(message: ToWorker, bytes?: Uint8Array<ArrayBuffer>): void {
    this.#worker.postMessage(message, bytes ? [bytes.buffer] : []);
  }
}

class TooCostly extends Error {}

const isTooCostly = (error: unknown) =>
  error instanceof TooCostly ||
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';

/** A thread that examines one file at a time. It keeps the process alive only meanwhile. */
export class ExaminingThread {
  readonly #program: () => string;
  #starting: Promise<Worker> | undefined;

  constructor(program: () => string) {
    this.#program = program;
  }

  /**
   * Examines a file. Starts the thread if there is none, and ends it if the file takes more than
   * the limits: that is a refusal. Rejects with the reason of the signal, and if the thread fails
   * for a reason that is not the file.
   */
  async examine(file: ForeignFile, signal: AbortSignal | undefined): Promise<Verdict> {
    signal?.throwIfAborted();
    const isNew = this.#starting === undefined;
    this.#starting ??= this.#start();
    const worker = await this.#starting;
    worker.ref();
    const examination = new Examination(worker, file, isNew ? startLimitMs : limitMs);
    const abort = () => examination.abort(signal?.reason);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    try {
      return await examination.verdict;
    } catch (error) {
      await this.stop();
      if (isTooCostly(error)) return tooCostly();
      throw error;
    } finally {
      examination.end();
      signal?.removeEventListener('abort', abort);
      worker.unref();
    }
  }

  /** Ends the thread. The next file starts another one. */
  async stop(): Promise<void> {
    const starting = this.#starting;
    this.#starting = undefined;
    const worker = await starting?.catch(() => undefined);
    await worker?.terminate();
  }

  #start(): Promise<Worker> {
    const starting = startWorker(this.#program());
    const forget = () => {
      if (this.#starting === starting) this.#starting = undefined;
    };
    // Without a listener, an error between two files would end the process.
    starting.then((worker) => worker.on('exit', forget).on('error', () => {}), forget);
    return starting;
  }
}
