import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import {
  checkout,
  type SignageProcess,
  startProcess,
} from '../../support/process/signage-process.ts';
import { item } from '../../support/service/content.ts';
import { managerAt } from '../../support/service/service.ts';

const tlsFile = (kind: 'cert' | 'key') =>
  fileURLToPath(new URL(`../../fixtures/tls/first.${kind}.pem`, import.meta.url));
const largestFile = '/docs/swagger-ui-bundle.js';
const probeEveryMs = 20;
const token = `mak_${'HostileConnections'.repeat(2)}`;

/** The built service in a process, with its store in memory. */
export interface AttackedService {
  process: SignageProcess;
  url: URL;
}

export async function startAttacked({ tls = false } = {}): Promise<AttackedService> {
  const options = tls ? ['--tls-cert', tlsFile('cert'), '--tls-key', tlsFile('key')] : [];
  const process = startProcess(
    [join(checkout, 'bin/signage.js'), 'serve', '--store', 'memory', '--port', '0', ...options],
    {
      env: { SIGNAGE_ADMIN_TOKEN: token },
    },
  );
  const [url] = await process.until(/https?:\/\/127\.0\.0\.1:\d+/);
  return { process, url: new URL(url) };
}

/** Starts a service with a screen that has 20 playlists of 1 MB. */
export async function startWithLargeLists() {
  const service = await startAttacked();
  const management = managerAt(service.url.origin, token);
  const { id: venueId } = await management.venue('Lobby');
  const { id } = await management.screen(venueId, 'Main');
  for (let n = 0; n < 20; n++) {
    const items = [item({ n, text: 'x'.repeat(1_000_000) })];
    expect((await management.put(`/v1/screens/${id}/playlist`, { items })).status).toBe(200);
  }
  const path = `/v1/screens/${id}/playlists?limit=200`;
  return { service, path, head: `Authorization: Bearer ${token}\r\n` };
}

/** Opens a connection that sends `bytes` and reads nothing until `resume` is called. */
async function openConnection(
  { url }: AttackedService,
  bytes: string | Buffer = '',
  { handshake = true } = {},
): Promise<Socket> {
  const [host, port] = [url.hostname, Number(url.port)];
  const isTls = handshake && url.protocol === 'https:';
  const socket = isTls
    ? connectTls({ host, port, rejectUnauthorized: false })
    : connect({ host, port });
  // An attacked service may reset the connection at any time.
  socket.on('error', () => {});
  await once(socket, isTls ? 'secureConnect' : 'connect');
  socket.pause();
  if (bytes.length > 0) socket.write(bytes);
  return socket;
}

/** Returns the resident memory of a process in bytes. */
function residentBytes({ process: { pid } }: AttackedService): number {
  return (
    Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
  );
}

/**
 * Limits a process to this many file descriptors beyond the open ones, with `prlimit` of
 * util-linux.
 */
function limitDescriptors({ process: { pid } }: AttackedService, free: number): void {
  const limit = readdirSync(`/proc/${pid}/fd`).length + free;
  const { status, stderr } = spawnSync('prlimit', [`--pid=${pid}`, `--nofile=${limit}:${limit}`], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`prlimit ended with ${status}: ${stderr}`);
}

/** Returns the number of connections and listening sockets of a process. */
function openSockets({ process: { pid } }: AttackedService): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => isSocket(`${folder}/${name}`)).length;
}

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:');
  } catch {
    // Closed after it was listed.
    return false;
  }
}

/** Returns the milliseconds of a `GET /healthz`. */
function probe({ url }: AttackedService): Promise<number> {
  const startedMs = performance.now();
  const get = url.protocol === 'https:' ? getHttps : getHttp;
  return new Promise((resolve, reject) => {
    get(new URL('/healthz', url), { agent: false, rejectUnauthorized: false }, (response) => {
      response.resume().on('end', () => resolve(performance.now() - startedMs));
    }).on('error', reject);
  });
}

export interface Flood {
  name: string;
  connections: number;
  /** Number of pipelined requests on each connection. */
  requests: number;
  path?: string;
  /** More headers. */
  head?: string;
  /** Whether the responses are read. Default: no. */
  reads?: boolean;
  seconds: number;
}

export interface FloodOutcome {
  growthMb: number;
  healthzP99Ms: number;
  healthzMaxMs: number;
}

/** Attacks that exhaust the memory of a service that starts all pipelined requests at once. */
export const floods = {
  oneConnection: { name: '800 requests on one connection', connections: 1, requests: 800 },
  manyConnections: { name: '8 requests on each of 300 connections', connections: 300, requests: 8 },
  tinyRequests: {
    name: '4,000 tiny requests on each of 300 connections',
    connections: 300,
    requests: 4_000,
    path: '/x',
  },
};

/**
 * Pipelines requests on connections that read nothing. Measures memory and `/healthz` meanwhile.
 */
export async function runFlood(
  service: AttackedService,
  { connections, requests, path = largestFile, head = '', reads = false, seconds }: Flood,
): Promise<FloodOutcome> {
  // Warms up files and compiled code.
  for (let n = 0; n < 50; n++) await probe(service);
  const warmUp = await openConnection(
    service,
    `GET ${largestFile} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  );
  await once(warmUp.resume(), 'close');
  const beforeBytes = residentBytes(service);
  const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\n${head}\r\n`.repeat(requests));
  const sockets = await Promise.all(
    Array.from({ length: connections }, () => openConnection(service, bytes)),
  );
  if (reads) for (const socket of sockets) socket.resume();
  const tookMs: number[] = [];
  let mostBytes = 0;
  for (
    const endMs = performance.now() + seconds * 1000;
    performance.now() < endMs;
    await sleep(probeEveryMs)
  ) {
    tookMs.push(await probe(service));
    mostBytes = Math.max(mostBytes, residentBytes(service));
  }
  for (const socket of sockets) socket.destroy();
  const [healthzMaxMs] = tookMs.sort((a, b) => b - a) as [number];
  const healthzP99Ms = tookMs[Math.ceil((tookMs.length - 1) * 0.01)] ?? healthzMaxMs;
  return { growthMb: (mostBytes - beforeBytes) / 1e6, healthzP99Ms, healthzMaxMs };
}

/** The first bytes of an incomplete ClientHello. */
const halfClientHello = Buffer.from('16030102000100', 'hex');
const host = 'Host: x\r\n';

/** Connections that never complete a request. */
const hostileConnections: Record<
  string,
  { bytes?: string | Buffer; handshake?: boolean; tlsOnly?: boolean }
> = {
  'silent ones': { handshake: false },
  'half a ClientHello': { bytes: halfClientHello, handshake: false, tlsOnly: true },
  'silent ones after the handshake': { tlsOnly: true },
  'half a request line': { bytes: 'GET /hea' },
  'half a body': {
    bytes: `POST /devices/register HTTP/1.1\r\n${host}Content-Length: 1000\r\n\r\n{`,
  },
  'responses that nobody reads': { bytes: `GET ${largestFile} HTTP/1.1\r\n${host}\r\n`.repeat(50) },
};

/** Returns the seconds from SIGTERM to the end of the process, with hostile connections open. */
export async function secondsToStop(
  service: AttackedService,
  each: number,
): Promise<{ seconds: number; code: number | null }> {
  const isTls = service.url.protocol === 'https:';
  const kinds = Object.values(hostileConnections).filter(({ tlsOnly }) => isTls || !tlsOnly);
  const sockets = await Promise.all(
    kinds.flatMap(({ bytes, handshake }) =>
      Array.from({ length: each }, () =>
        openConnection(service, bytes, { handshake: handshake ?? true }),
      ),
    ),
  );
  return stop(service, sockets);
}

/**
 * Returns the seconds from SIGTERM to the end of a process whose file descriptors suffice for half
 * of the waiting `connections`.
 */
export async function secondsToStopWithoutDescriptors(
  service: AttackedService,
  connections: number,
): Promise<{ seconds: number; code: number | null }> {
  const before = openSockets(service);
  const free = connections / 2;
  limitDescriptors(service, free);
  const sockets = await Promise.all(
    Array.from({ length: connections }, (_, n) =>
      openConnection(service, n % 2 === 0 ? '' : 'GET /hea', { handshake: false }),
    ),
  );
  while (openSockets(service) < before + free - 1) await sleep(10);
  return stop(service, sockets);
}

async function stop(service: AttackedService, sockets: readonly Socket[]) {
  const startedMs = performance.now();
  service.process.signal('SIGTERM');
  const code = await service.process.ended;
  for (const socket of sockets) socket.destroy();
  return { seconds: (performance.now() - startedMs) / 1000, code };
}
