import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startProgram } from '../../support/process/program.ts';
import { unitOptions } from '../../support/runtime/node-options.ts';
import { type Answer, managerAt } from '../../support/service/service.ts';
import type { Aim } from './attack.ts';

/** Memory after garbage collection, open descriptors and CPU time. */
interface Usage {
  heapBytes: number;
  residentBytes: number;
  /** Target of each open descriptor: a path, or `socket:[1234]` and the like. */
  open: string[];
  cpuMs: number;
}

export interface Served {
  url: string;
  aim: Aim;
  manage(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Creates a screen with a bound TV. */
  tv(): Promise<{ screenId: string; deviceId: string; apiKey: string }>;
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

const nodeOptions = ['--expose-gc', ...unitOptions];
const adminToken = `mak_${'HttpHarness'.repeat(3)}`;

interface ServedOptions {
  /** Write rate of its disk. Default: unlimited. */
  bytesPerSecond?: number;
  /** Location of the store. Default: a new folder. */
  store?: string | undefined;
  /** Processor core. Default: any. */
  core?: number;
}

/** Starts the built service in a process, with a venue and a bound TV. */
export async function startServed({
  bytesPerSecond,
  store,
  core,
}: ServedOptions = {}): Promise<Served> {
  const data = store ?? (await temporaryFolder());
  const { first, ask, stop } = await startProgram<{ url: string }>(
    new URL('served.js', import.meta.url),
    [JSON.stringify({ data, adminToken, bytesPerSecond })],
    { nodeOptions, ...(core !== undefined && { core }) },
  );
  const { url } = first;
  const management = managerAt(url, adminToken);
  const { id: venueId } = await management.venue('Harness');
  let count = 0;
  const tv = async () => management.tv((await management.screen(venueId, `Screen ${++count}`)).id);
  const { screenId, apiKey } = await tv();
  return {
    url,
    aim: { host: new URL(url).host, token: adminToken, key: apiKey, screenId },
    manage: (method, path, body) => management.send(method, path, { body }),
    tv,
    usage: () => ask<Usage>('usage'),
    stop,
  };
}
