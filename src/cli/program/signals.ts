import type { Io, SignalName } from '../terminal/io.ts';

/** Exit codes of signals. A closed terminal (SIGHUP) ends a command as SIGTERM does. */
const exitCodes: Readonly<Record<SignalName, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 143 };

/**
 * Handles signals until `stop`. Two steps: the first SIGINT or SIGTERM requests a graceful end, the
 * second an immediate one.
 */
export function watchInterruption(io: Io) {
  const first = new AbortController();
  const signal: AbortSignal = first.signal;
  let endAtOnce: (exitCode: number) => void;
  const second = new Promise<number>((resolve) => {
    endAtOnce = resolve;
  });
  const stops: (() => void)[] = [];
  const heed = (name: SignalName) =>
    stops.push(
      io.onSignal(name, () => {
        if (!first.signal.aborted) first.abort(exitCodes[name]);
        else if (name !== 'SIGHUP') endAtOnce(exitCodes[name]);
      }),
    );
  heed('SIGINT');
  heed('SIGTERM');
  return {
    /** Aborts at the first signal. Its `reason` is the exit code. */
    signal,
    /** Resolves with the exit code at the second signal. */
    second,
    /**
     * Makes SIGHUP request a graceful end, too. A second SIGHUP has no effect, because shell and
     * kernel may both send one.
     */
    heedHangup: () => void heed('SIGHUP'),
    stop() {
      for (const one of stops) one();
    },
  };
}
