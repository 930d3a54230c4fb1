import { memoize } from '../command/memoize.ts';
import { programName } from '../command/program-name.ts';

export interface Output {
  /** Writes text. Bytes must be UTF-8. */
  write(text: string | Uint8Array): void;
  readonly isTTY: boolean;
  /** Width of the terminal in characters, if known. */
  readonly columns?: number | undefined;
  /**
   * Aborts when a write fails because the reader has closed its end. Endless commands then stop.
   */
  readonly gone?: AbortSignal;
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
 * Opens the stream at first use: opening costs time, and most commands write to one stream only.
 */
function output(open: () => NodeJS.WriteStream): Output {
  const gone = new AbortController();
  const stream = memoize(() => {
    const opened = open();
    // A reader that stops early (`signage … | head -1`) or a closed terminal is not an error.
    return opened.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && !(error.code === 'EIO' && opened.isTTY)) throw error;
      gone.abort();
    });
  });
  return {
    write: (text) => void stream().write(text),
    get isTTY() {
      return stream().isTTY === true;
    },
    get columns() {
      return stream().columns || undefined;
    },
    gone: gone.signal,
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
    stdout: output(() => process.stdout),
    stderr: output(() => process.stderr),
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
