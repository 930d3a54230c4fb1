import { nodeOptions } from '../support/node-options.ts';
import { startProgram } from '../support/program.ts';

/** What the service has used since it started to listen. */
export interface Usage {
  longestHoldMs: number;
  /** The same without the time that the thread waited for a core. */
  longestOwnHoldMs: number;
  cpuMs: number;
  residentMB: number;
}

export interface Served {
  url: string;
  /** Duration of the call of `serve`. */
  startMs: number;
  usage(): Promise<Usage>;
  /** Forgets the longest hold so far. */
  resetHolds(): Promise<void>;
  /** Stops measuring holds, which takes CPU. */
  stopWatchingHolds(): Promise<void>;
  stop(): Promise<void>;
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
): Promise<Served> {
  const args = [data, adminToken, JSON.stringify(options)];
  const program = await startProgram<{ url: string; startMs: number }>(script, args, {
    nodeOptions,
  });
  return {
    ...program.first,
    usage: () => program.ask<Usage>('usage'),
    async resetHolds() {
      await program.ask('reset holds');
    },
    async stopWatchingHolds() {
      await program.ask('stop watching holds');
    },
    stop: program.stop,
  };
}
