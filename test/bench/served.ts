import { startProgram } from '../support/process/program.ts';
import { nodeOptions } from '../support/runtime/node-options.ts';

/** What the service has used since it started to listen. */
export interface Usage {
  longestHoldMs: number;
  /** The same without the time that the thread waited for a core. */
  longestOwnHoldMs: number;
  cpuMs: number;
  residentMB: number;
}

/**
 * Starts the built service on a folder, in a process of its own, with these options of `serve`.
 * `script`: another script that answers the same messages.
 */
export async function startServed(
  data: string,
  adminToken: string,
  options: object = {},
  script = new URL('served.js', import.meta.url),
) {
  const args = [data, adminToken, JSON.stringify(options)];
  const program = await startProgram<{ url: string; startMs: number }>(script, args, {
    nodeOptions,
  });
  return {
    /** The URL, and the duration of the call of `serve`. */
    ...program.first,
    usage: () => program.ask<Usage>('usage'),
    /** Forgets the longest hold so far. */
    resetHolds: () => program.ask('reset holds'),
    /** Stops measuring holds, which takes CPU. */
    stopWatchingHolds: () => program.ask('stop watching holds'),
    stop: program.stop,
  };
}

export type Served = Awaited<ReturnType<typeof startServed>>;
