import type { Io, SignalName } from '../terminal/io.ts';

/** A terminal that is closed ends a command as SIGTERM does. */
const exitCodes: Readonly<Record<SignalName, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 143 };

/** The first SIGINT or SIGTERM asks for an orderly end, the second demands one at once. */
export interface Interruption {
  /** Aborts at the first; its `reason` is the exit code. */
  signal: AbortSignal;
  /** Resolves at the second with its exit code. */
  second: Promise<number>;
  /** Has SIGHUP ask for an orderly end too; until then it keeps its own meaning. It demands nothing, for shells and kernel may both send it. */
  heedHangup(): void;
  /** Lets the signals go their own way again. */
  stop(): void;
}

export function watchInterruption(io: Io): Interruption {
  const first = new AbortController();
  let demand: (exitCode: number) => void;
  const second = new Promise<number>((resolve) => {
    demand = resolve;
  });
  const stops: (() => void)[] = [];
  const heed = (name: SignalName) =>
    stops.push(
      io.onSignal(name, () => {
        if (!first.signal.aborted) first.abort(exitCodes[name]);
        else if (name !== 'SIGHUP') demand(exitCodes[name]);
      }),
    );
  heed('SIGINT');
  heed('SIGTERM');
  return {
    signal: first.signal,
    second,
    heedHangup: () => void heed('SIGHUP'),
    stop() {
      for (const one of stops) one();
    },
  };
}
