import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { nodeOptions } from '../support/node-options.ts';

/** How the service has fared since it listened. */
interface Fared {
  /** The longest that its event loop was held. */
  longestHoldMs: number;
  /** Likewise, without the time in which it waited for a core that others had. */
  longestOwnHoldMs: number;
  /** Its CPU time so far. */
  cpuMs: number;
  residentMB: number;
}

export interface Served {
  url: string;
  /** From the call of `serve` until it listened. */
  startMs: number;
  fared(): Promise<Fared>;
  /** The longest hold counts from here on. */
  watchAnew(): Promise<void>;
  stop(): Promise<void>;
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  return (await once(child, 'message'))[0] as T;
}

/**
 * The built service on a folder, in a process of its own; `more` are further options of `serve`.
 */
export async function startServed(
  data: string,
  adminToken: string,
  more: object = {},
): Promise<Served> {
  const child = fork(
    fileURLToPath(new URL('served.js', import.meta.url)),
    [data, adminToken, JSON.stringify(more)],
    {
      execArgv: [...nodeOptions],
    },
  );
  const started = await answerOf<{ url: string; startMs: number }>(child);
  return {
    ...started,
    fared() {
      child.send('fared?');
      return answerOf<Fared>(child);
    },
    async watchAnew() {
      child.send('watch anew');
      await answerOf(child);
    },
    async stop() {
      const gone = once(child, 'exit');
      child.send('stop');
      await gone;
    },
  };
}
