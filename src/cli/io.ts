/** A stream to write to. */
interface Output {
  write(text: string): void;
  /** Whether a person sees it. */
  readonly isTTY: boolean;
}

export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** All that the command line has of the world around it; nothing else in it knows the process. */
export interface Io {
  /** For what was asked for. */
  readonly stdout: Output;
  /** For everything said beside it: logs, progress, errors. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Calls `handle` at each such signal, in place of what the signal does by itself; the returned function ends that. */
  onSignal(name: SignalName, handle: () => void): () => void;
}

function output(stream: NodeJS.WriteStream): Output {
  // A reader that has seen enough (`signage … | head -1`) is no failure of ours.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return { write: (text) => void stream.write(text), isTTY: stream.isTTY === true };
}

/** The process's own streams, environment and signals. */
export function processIo(): Io {
  return {
    stdout: output(process.stdout),
    stderr: output(process.stderr),
    env: process.env,
    onSignal(name, handle) {
      process.on(name, handle);
      return () => void process.off(name, handle);
    },
  };
}
