import { PassThrough, Writable } from 'node:stream';
import type { Io, SignalName } from '../../../src/cli/terminal/io.ts';

export interface FakeIo extends Io {
  /** Returns all text written so far. */
  out(): string;
  err(): string;
  /** Types keys at a prompt. */
  type(text: string): void;
  /** Sends a signal. Returns whether a handler was registered. */
  signal(name: SignalName): boolean;
  /** Waits until the pattern matches `stdout` or `stderr`. Rejects after `timeoutMs`. */
  until(pattern: RegExp, timeoutMs?: number): Promise<string>;
}

interface FakeIoOptions {
  env?: Record<string, string>;
  /** For all three streams. */
  isTTY?: boolean;
  /** Width of the terminal. */
  columns?: number;
  stdin?: string | Uint8Array;
}

export function fakeIo({
  env = {},
  isTTY = false,
  columns,
  stdin = '',
}: FakeIoOptions = {}): FakeIo {
  const written = { out: '', err: '' };
  const listeners = new Map<SignalName, Set<() => void>>();
  const waiting = new Set<() => void>();
  const stream = (name: keyof typeof written) => ({
    isTTY,
    columns,
    write(text: string) {
      written[name] += text;
      for (const look of [...waiting]) look();
    },
  });
  const keys = new PassThrough();
  const signal = (name: SignalName) => {
    const handlers = [...(listeners.get(name) ?? [])];
    for (const handle of handlers) handle();
    return handlers.length > 0;
  };
  return {
    env,
    program: 'signage',
    stdin: { isTTY, bytes: async () => Buffer.from(stdin) },
    type: (text) => void keys.write(text),
    terminal: () => ({
      input: keys,
      output: new Writable({
        write: (chunk, _, done) => done(void stream('err').write(String(chunk))),
      }),
    }),
    stdout: stream('out'),
    stderr: stream('err'),
    out: () => written.out,
    err: () => written.err,
    onSignal(name, handle) {
      const handlers = listeners.get(name) ?? new Set();
      listeners.set(name, handlers.add(handle));
      return () => void handlers.delete(handle);
    },
    signal,
    interrupt: () => void signal('SIGINT'),
    until: (pattern, timeoutMs = 30_000) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(look);
          reject(
            new Error(
              `${pattern} was never written. stdout: ${written.out} stderr: ${written.err}`,
            ),
          );
        }, timeoutMs);
        const look = () => {
          const match = pattern.exec(written.out) ?? pattern.exec(written.err);
          if (!match) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(match[0]);
        };
        waiting.add(look);
        look();
      }),
  };
}
