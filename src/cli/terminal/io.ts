import { memoize } from '../command/memoize.ts';

/** A stream to write to. */
export interface Output {
  /** Text, or a piece of it in UTF-8. */
  write(text: string | Uint8Array): void;
  /** Whether a person sees it. */
  readonly isTTY: boolean;
  /** How many characters fit into a line, where that is known: at a terminal. */
  readonly columns?: number | undefined;
  /** Aborts once a write finds that nobody reads any more: what has no end, ends then. */
  readonly gone?: AbortSignal;
}

/** What is piped in, or typed. */
interface Input {
  readonly isTTY: boolean;
  /** All of it, as UTF-8, once it has ended. */
  text(): Promise<string>;
}

/** The terminal's own streams: prompts read keys from the one and draw on the other. */
interface Terminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** All that the command line has of the world around it; nothing else in it knows the process. */
export interface Io {
  readonly stdin: Input;
  /** For what was asked for. */
  readonly stdout: Output;
  /** For everything said beside it: logs, progress, questions, errors. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For prompts alone, which are shown where `stderr` is. */
  terminal(): Terminal;
  /** Calls `handle` at each such signal, in place of what the signal does by itself; the returned function ends that. */
  onSignal(name: SignalName, handle: () => void): () => void;
}

/** Made when it is first touched: that costs time, and most commands write to one stream only. */
function output(open: () => NodeJS.WriteStream): Output {
  const gone = new AbortController();
  const stream = memoize(() => {
    const opened = open();
    // A reader that has seen enough (`signage … | head -1`), or a terminal that was closed, is no failure of ours.
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

/** `process.stdin` is made when it is first touched, which costs time and may hold the process: only on demand. */
function input(): Input {
  return {
    get isTTY() {
      return process.stdin.isTTY === true;
    },
    async text() {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}

/** The process's own streams, environment and signals. */
export function processIo(): Io {
  return {
    stdin: input(),
    stdout: output(() => process.stdout),
    stderr: output(() => process.stderr),
    env: process.env,
    terminal: () => ({ input: process.stdin, output: process.stderr }),
    onSignal(name, handle) {
      process.on(name, handle);
      return () => void process.off(name, handle);
    },
  };
}
