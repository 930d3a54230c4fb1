import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { unitOptions } from '../../support/node-options.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { Aim } from './attack.ts';

/** Memory after garbage collection, open descriptors and CPU time. */
interface Fared {
  heapBytes: number;
  residentBytes: number;
  /** Target of each open descriptor: a path, or `socket:[1234]` and the like. */
  open: string[];
  cpuMs: number;
}

export interface Served {
  url: string;
  aim: Aim;
  manage(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, string> }>;
  /** Creates a screen with a bound TV. */
  tv(): Promise<{ screenId: string; deviceId: string; apiKey: string }>;
  fared(): Promise<Fared>;
  stop(): Promise<void>;
}

const execArgv = ['--expose-gc', ...unitOptions];
const adminToken = `mak_${'HttpHarness'.repeat(3)}`;

interface ServedOptions {
  /** Write rate of its disk. Default: unlimited. */
  bytesPerSecond?: number;
  /** Location of the store. Default: a new folder. */
  store?: string | undefined;
  /** Processor core. Default: any. */
  core?: number;
}

/** Returns the options that fork a script on one core. */
export function onCore(core: number | undefined): { execPath?: string; execArgv: string[] } {
  return core === undefined
    ? { execArgv }
    : { execPath: 'taskset', execArgv: ['-c', String(core), process.execPath, ...execArgv] };
}

/** Starts the built service in a process, with a venue and a bound TV. */
export async function startServed({
  bytesPerSecond,
  store,
  core,
}: ServedOptions = {}): Promise<Served> {
  const options = JSON.stringify({
    data: store ?? (await temporaryFolder()),
    adminToken,
    bytesPerSecond,
  });
  const child = fork(fileURLToPath(new URL('served.js', import.meta.url)), [options], onCore(core));
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const send: Served['manage'] = async (method, path, body) => {
    const headers = { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' };
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
  };
  const { body: venue } = await send('POST', '/v1/venues', { name: 'Harness' });
  let made = 0;
  const tv: Served['tv'] = async () => {
    const { body: screen } = await send('POST', '/v1/screens', {
      venueId: venue.id,
      name: `Screen ${++made}`,
    });
    const { body: code } = await send('POST', '/v1/devices/provisioning-codes', {
      screenId: screen.id,
    });
    const { body } = await send('POST', '/devices/register', {
      pairingCode: code.code,
      deviceInfo: {},
    });
    return { screenId: screen.id ?? '', deviceId: body.deviceId ?? '', apiKey: body.apiKey ?? '' };
  };
  const { screenId, apiKey } = await tv();
  return {
    url,
    aim: { host: new URL(url).host, token: adminToken, key: apiKey, screenId },
    manage: send,
    tv,
    async fared() {
      child.send('fared?');
      return (await once(child, 'message'))[0] as Fared;
    },
    async stop() {
      const gone = once(child, 'exit');
      child.send('stop');
      await gone;
    },
  };
}
