import { fstatSync, writeSync } from 'node:fs';
import { escapeLines } from './escape.ts';
import { memoize } from './memoize.ts';
import { notWritten } from './not-written.ts';
import { programName } from './program-name.ts';

export interface Output {
  /** Writes text. Bytes must be UTF-8. */
  write(text: string | Uint8Array): void;
  readonly isTTY: boolean;
  /** Width of the terminal in characters, if known. */
  readonly columns?: number | undefined;
  /**
   * Aborts when a write fails, also because the reader has closed its end. Endless commands then
   * stop.
   */
  readonly gone?: AbortSignal;
  /** The first error of a write, other than a reader that has closed its end. */
  readonly failure?: Error | undefined;
  /**
   * Resolves when everything is written, or the reader has closed its end. Throws `not_written` if
   * a write failed, such as on a full disk.
   */
  written?(): Promise<void>;
}

interface Input {
  readonly isTTY: boolean;
  /** Reads to the end. */
  bytes(): Promise<Uint8Array>;
}

/** The raw streams of the terminal, for prompts. */
interface Terminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** The command line's only access to the process: streams, environment and signals. */
export interface Io {
  readonly stdin: Input;
  /** For results. */
  readonly stdout: Output;
  /** For everything else: logs, progress, questions, errors. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What somebody types to run this program: `signage`, or `node bin/signage.js`. */
  readonly program: string;
  /** For prompts, which are drawn on `stderr`. */
  terminal(): Terminal;
  /**
   * Calls `handle` at a signal, instead of the default action. Returns a function that removes
   * `handle`.
   */
  onSignal(name: SignalName, handle: () => void): () => void;
  /** Sends SIGINT to this process. In raw mode, the terminal does not send it at Ctrl-C. */
  interrupt(): void;
}

/**
 * Escapes the text that a program writes (`escapeLines`), whoever forgot to. Bytes stay unchanged.
 */
export function escapedIo(io: Io): Io {
  const escapedOutput = (output: Output): Output =>
    Object.create(output, {
      write: {
        value: (text: string | Uint8Array) =>
          output.write(typeof text === 'string' ? escapeLines(text) : text),
      },
    });
  return Object.create(io, {
    stdout: { value: escapedOutput(io.stdout) },
    stderr: { value: escapedOutput(io.stderr) },
  });
}

/** Whether the reader has closed its end (`signage … | head -1`), or the terminal is closed. */
const isGone = ({ code }: NodeJS.ErrnoException, isTTY: boolean) =>
  code === 'EPIPE' || (code === 'EIO' && isTTY);

/** Whether writes are synchronous, to a file or a device. */
function isFile(fd: number): boolean {
  const stats = fstatSync(fd);
  return stats.isFile() || stats.isCharacterDevice();
}

/** Writes all bytes to a file. The stream of Node ignores that a full disk takes only some. */
function writeFully(fd: number, text: string | Uint8Array): void {
  const bytes = Buffer.from(text as Uint8Array);
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

/**
 * Opens the stream at first use: opening costs time, and most commands write to one stream only.
 */
function output(name: string, open: () => NodeJS.WriteStream & { fd: number }): Output {
  const gone = new AbortController();
  let failure: NodeJS.ErrnoException | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const opened = memoize(() => {
    const stream = open();
    const isTTY = stream.isTTY === true;
    const failed = (error: NodeJS.ErrnoException) => {
      if (!isGone(error, isTTY)) failure ??= error;
      gone.abort();
    };
    stream.on('error', failed);
    return { stream, isTTY, isFile: !isTTY && isFile(stream.fd), failed };
  });
  return {
    write(text) {
      const { stream, isFile, failed } = opened();
      if (!isFile) {
        last = new Promise((resolve) => stream.write(text, resolve));
        return;
      }
      try {
        writeFully(stream.fd, text);
      } catch (error) {
        failed(error as NodeJS.ErrnoException);
      }
    },
    get isTTY() {
      return opened().isTTY;
    },
    get columns() {
      return opened().stream.columns || undefined;
    },
    gone: gone.signal,
    get failure() {
      return failure;
    },
    async written() {
      await last;
      if (!failure) return;
      throw notWritten(failure, name);
    },
  };
}

/** Opens `process.stdin` on demand only: opening it costs time and may keep the process alive. */
function input(): Input {
  return {
    get isTTY() {
      return process.stdin.isTTY === true;
    },
    async bytes() {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
  };
}

/** The streams, environment and signals of this process. */
export function processIo(): Io {
  return {
    stdin: input(),
    stdout: output('stdout', () => process.stdout),
    stderr: output('stderr', () => process.stderr),
    env: process.env,
    get program() {
      const [node, script] = process.argv;
      const isScript = script !== undefined && script !== node;
      const file = isScript ? script : process.execPath;
      return programName({ file, isScript, cwd: process.cwd(), path: process.env.PATH });
    },
    terminal: () => ({ input: process.stdin, output: process.stderr }),
    onSignal(name, handle) {
      process.on(name, handle);
      return () => void process.off(name, handle);
    },
    interrupt: () => void process.kill(process.pid, 'SIGINT'),
  };
}
