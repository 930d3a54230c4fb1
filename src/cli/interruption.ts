import type { Io, SignalName } from './io.ts';

const exitCodes: Partial<Record<SignalName, number>> = { SIGINT: 130, SIGTERM: 143 };

/** The first SIGINT or SIGTERM asks for an orderly end, the second demands one at once. */
export interface Interruption {
  /** Aborts at the first; its `reason` is the exit code. */
  signal: AbortSignal;
  /** Resolves at the second with its exit code. */
  second: Promise<number>;
  /** Lets the signals go their own way again. */
  stop(): void;
}

export function watchInterruption(io: Io): Interruption {
  const first = new AbortController();
  let demand: (exitCode: number) => void;
  const second = new Promise<number>((resolve) => {
    demand = resolve;
  });
  const stops = (['SIGINT', 'SIGTERM'] as const).map((name) =>
    io.onSignal(name, () => {
      const exitCode = exitCodes[name] ?? 1;
      if (first.signal.aborted) demand(exitCode);
      else first.abort(exitCode);
    }),
  );
  const stop = () => {
    for (const one of stops) one();
  };
  return { signal: first.signal, second, stop };
}
